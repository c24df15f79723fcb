import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { agentFileName, agentFileOf } from '../agent-argument.ts';

export interface CheckOptions {
  readonly agentFile: string;
  readonly json: boolean;
}

/** Requests may cost money, so the number is announced. */
export const MAX_REQUESTS = 5;

/** Over the Responses API, a server may refuse three optional parts, after each of which a request is made again. */
export const MAX_RESPONSES_REQUESTS = MAX_REQUESTS + 3;

/** The numbers of both in words. */
export const AT_MOST = `at most ${MAX_REQUESTS} small requests (${MAX_RESPONSES_REQUESTS} over the Responses API)`;

export function addCheck(
  program: Command,
  environment: Environment,
  choose: (options: CheckOptions) => void,
): void {
  program
    .command('check')
    .description(
      `Tests the model of an agent file with ${AT_MOST}, which the provider may charge for: address, key, model, streaming, tool calls and their results, images, and settings. Exit code 1 if the key, the address, the model or a setting must be changed, or if a request got no reply.`,
    )
    .option(
      '-a, --agent <file>',
      'agent file (YAML); default: AGENT_SERVICE_AGENT, else the agent that comes with the package',
      agentFileName,
    )
    .option('--json', 'print one JSON object at the end instead of readable lines')
    .action(({ agent, json = false }: { agent?: string; json?: boolean }) =>
      choose({ agentFile: agent ?? agentFileOf(environment), json }),
    );
}
