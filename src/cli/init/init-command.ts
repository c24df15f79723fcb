import { type Command, InvalidArgumentError, Option } from 'commander';
import { LlmConfig } from '../../config/schema/llm-config.ts';
import { hasCredentials, NO_CREDENTIALS } from '../../config/schema/web-url.ts';
import { agentFileName, INIT_FILE } from '../agent-argument.ts';
import { AT_MOST } from '../check/check-command.ts';

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
    .argument('[file]', 'file to write', agentFileName, INIT_FILE)
    .addOption(new Option('--provider <name>', 'provider of the model').choices(providerNames))
    .option('--model <name>', 'name of the model at the provider', checked(modelProblem))
    .option('--key-variable <name>', 'environment variable that holds the key', checked(variableProblem))
    .option('--base-url <url>', 'address of the provider, up to /v1', checked(addressProblem))
    .option('--force', 'overwrite an existing file')
    .option('--check', `then check it, as \`agent-service check\` does, with ${AT_MOST}`)
    .action((file: string, options: Omit<InitOptions, 'file'>) => choose({ file, ...options }));
}

type Problem = (text: string | undefined) => string | undefined;

/** Undefined if the text can be the name of a model. */
export const modelProblem: Problem = (text) =>
  text?.trim() ? undefined : 'Expected the name of a model, as the provider calls it.';

/** Undefined if the text can be the address of a provider. */
export const addressProblem: Problem = (text) => {
  const { success } = LlmConfig.shape.baseURL.safeParse(text);
  if (!success || !text) return 'Expected an address such as http://127.0.0.1:8080/v1.';
  return hasCredentials(text) ? `The address ${NO_CREDENTIALS}.` : undefined;
};

/** Undefined if the text can be the name of a variable. Most keys cannot, so a key given by mistake is refused. */
export const variableProblem: Problem = (text) =>
  text !== undefined && /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
    ? undefined
    : 'Expected the name of a variable such as OPENAI_API_KEY, not the key itself.';

function checked(problemOf: Problem): (text: string) => string {
  return (text) => {
    const problem = problemOf(text);
    if (problem !== undefined) throw new InvalidArgumentError(problem);
    return text;
  };
}
