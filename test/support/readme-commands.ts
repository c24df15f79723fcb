import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { projectRoot } from './source-imports.ts';

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');

export interface ReadmeCommand {
  /** For a shell, on one line or more. */
  readonly command: string;
  /** What the README shows that it prints; empty where it shows nothing. */
  readonly printed: string;
}

/** A command ends with its line, unless a backslash or an open quote takes the next one in. */
const COMMAND = /^(\$ )?(\w(?:'[^']*'|\\\n|[^'\\\n])*)\n/gm;

/** The commands of the README's code blocks that contain a text, in their order. */
export function readmeCommands(text: string): ReadmeCommand[] {
  const blocks = [...readme.matchAll(/^```(bash|console)\n(.*?)^```$/gms)];
  return blocks.flatMap(([, kind, block = '']) => {
    const isTranscript = kind === 'console';
    return [...block.matchAll(COMMAND)]
      .filter(([, prompt]) => isTranscript === (prompt !== undefined))
      .map(({ 0: line, 2: command = '', index }) => {
        const [printed = ''] = isTranscript ? block.slice(index + line.length).split(/^(?:$|\$ )/m) : [];
        return { command, printed: printed.trimEnd() };
      })
      .filter(({ command }) => command.includes(text));
  });
}

/**
 * What the README's tables say that a request is answered with: the fields it names and no other, unless there
 * are dots; a value only where it names one.
 * @param request as it begins there, such as `DELETE /api/sessions/{id}`.
 */
export function readmeAnswer(request: string): unknown {
  const row = readme.split('\n').find((line) => line.startsWith(`| \`${request}`)) ?? '';
  const notation = /\| [^|`]*`(\{[^`]+\})`[^|]* \|$/.exec(row)?.[1];
  if (notation === undefined) throw new Error(`the README has no answer to ${request}`);
  const json = notation
    .replaceAll('…', '"…": ""')
    .replace(/(?<=[{ ])\w+(?=[,}])/g, '$&: "any"')
    .replace(/(?<=[{ ])\w+(?=:)/g, '"$&"');
  return JSON.parse(json, (_key, value: unknown) => {
    if (value === 'any') return expect.anything();
    if (typeof value !== 'object' || value === null || !('…' in value)) return value;
    const { '…': _dots, ...named } = value;
    return expect.objectContaining(named);
  });
}
