import { type Command, InvalidArgumentError, Option } from 'commander';
import { LlmConfig } from '../../config/schema/llm-config.ts';
import { agentFileName } from '../agent-argument.ts';
import { MOST_REQUESTS } from '../check/check-command.ts';

export interface InitOptions {
  readonly file: string;
  readonly provider?: string;
  readonly model?: string;
  readonly keyVariable?: string;
  readonly baseUrl?: string;
  readonly force?: boolean;
  readonly check?: boolean;
}

export const providerNames = LlmConfig.shape.provider.options;

export function addInit(program: Command, choose: (options: InitOptions) => void): void {
  program
    .command('init')
    .description('Writes an agent file. Asks for what it needs to know; without a terminal, use the flags.')
    .argument('[file]', 'file to write', agentFileName, 'agent.yml')
    .addOption(new Option('--provider <name>', 'provider of the model').choices(providerNames))
    .option('--model <name>', 'name of the model at the provider')
    .option('--key-variable <name>', 'environment variable that holds the key', checkVariable)
    .option('--base-url <url>', 'address of the provider, up to /v1')
    .option('--force', 'overwrite an existing file')
    .option(
      '--check',
      `then check it, as \`agent-service check\` does, with at most ${MOST_REQUESTS} requests`,
    )
    .action((file: string, options: Omit<InitOptions, 'file'>) => choose({ file, ...options }));
}

/** Undefined if the text can be the name of a variable. Most keys cannot, so a key given by mistake is refused. */
export function variableProblem(text: string | undefined): string | undefined {
  if (text !== undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return undefined;
  return 'Expected the name of a variable such as OPENAI_API_KEY, not the key itself.';
}

function checkVariable(text: string): string {
  const problem = variableProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return text;
}
