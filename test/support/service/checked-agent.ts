import { join } from 'node:path';
import { expect } from 'vitest';
import { checkAgent } from '../../../src/cli/check/check-agent.ts';
import { parseCommandLine } from '../../../src/cli/cli.ts';
import { agentFolder } from './agent-folder.ts';

export const CHECK_KEY = 'sk-check-5d41402abc4b2a76';

export interface CheckEnding {
  readonly code: number;
  readonly stdout: string;
}

/** `agent-service check` in this process, on an agent with this model. */
export async function checked(llm: object, ...flags: string[]): Promise<CheckEnding> {
  await using folder = await agentFolder(JSON.stringify({ llm: checkedModel(llm) }));
  const command = parseCommandLine(['check', '--agent', join(folder.path, 'agent.yml'), ...flags], {});
  if (command.kind !== 'check') throw new Error('expected the command line to check an agent');
  const printed: string[] = [];
  const code = await checkAgent(command, {
    environment: { CHECK_KEY },
    signal: new AbortController().signal,
    print: (text) => printed.push(text),
  });
  const stdout = printed.join('');
  expect(stdout).not.toContain(CHECK_KEY);
  return { code, stdout };
}

/** `llm` of an agent file whose key is in the environment. */
export function checkedModel(llm: object): object {
  return { provider: 'openai', model: 'gpt-test', apiKey: '$CHECK_KEY', ...llm };
}

/** The marks of the table, from top to bottom. */
export function marksOf({ stdout }: Pick<CheckEnding, 'stdout'>): string {
  return [...stdout.matchAll(/^([✓✗–]) /gm)].map(([, mark]) => mark).join('');
}

/** The line of a check, without its numbers; and the advice below it. */
export function rowOf({ stdout }: Pick<CheckEnding, 'stdout'>, name: string): [string, string?] {
  const lines = stdout.split('\n');
  const at = lines.findIndex((line) => line.slice(2).startsWith(`${name} `));
  const row = (lines[at] ?? '')
    .replace(/ +(?:–|\d+ ms) +\d+ ms +(?:–|\d+\+\d+)$/, '')
    .replaceAll(/ {2,}/g, ' ');
  const below = lines[at + 1];
  return below?.startsWith('    ') ? [row, below.trim()] : [row];
}
