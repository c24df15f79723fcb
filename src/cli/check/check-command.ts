import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { agentFileName, agentFileOf } from '../agent-argument.ts';

export interface CheckOptions {
  readonly agentFile: string;
  readonly json: boolean;
}

/** Each may cost money, so the number is told beforehand. */
export const MOST_REQUESTS = 5;

export function addCheck(
  program: Command,
  environment: Environment,
  choose: (options: CheckOptions) => void,
): void {
  program
    .command('check')
    .description(
      `Tries the model of an agent file with at most ${MOST_REQUESTS} small requests, which the provider may charge for: whether it is reached and takes the key, knows the model, streams, calls a tool and goes on with the result, sees an image, and takes the settings. Exit code 1 when key, address, model or a setting has to be changed, or a request had no reply.`,
    )
    .option('-a, --agent <file>', 'agent file (YAML)', agentFileName)
    .option('--json', 'print one JSON object at the end instead of lines for people')
    .action(({ agent, json = false }: { agent?: string; json?: boolean }) =>
      choose({ agentFile: agent ?? agentFileOf(environment), json }),
    );
}
