import { expect } from 'vitest';
import { documentFiles, readDocument } from './documents.ts';

export interface DocumentedCommand {
  /** For a shell, on one line or more. */
  readonly command: string;
  /** What the document shows that it prints; empty where it shows nothing. */
  readonly printed: string;
}

/** A command ends with its line, unless a backslash or an open quote takes the next one in. */
const COMMAND = /^(\$ )?(\w(?:'[^']*'|\\\n|[^'\\\n])*)\n/gm;

/** The commands that contain a text, from the code blocks of README and then of docs, in their order. */
export function documentedCommands(text: string): DocumentedCommand[] {
  const blocks = documentFiles.flatMap((file) => [
    ...readDocument(file).matchAll(/^```(bash|console)\n(.*?)^```$/gms),
  ]);
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

export interface DocumentedExample {
  /** The document, such as `docs/guide.md`. */
  readonly file: string;
  readonly code: string;
}

/** The JavaScript and TypeScript examples of README and docs, in their order. */
export function documentedExamples(): DocumentedExample[] {
  return documentFiles.flatMap((file) =>
    [...readDocument(file).matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)].map(([, code = '']) => ({ file, code })),
  );
}

/**
 * What the tables of docs/protocol.md say that a request is answered with: the fields they name and no other,
 * unless there are dots; a value only where they name one.
 * @param request as it begins there, such as `DELETE /api/sessions/{id}`.
 */
export function documentedAnswer(request: string): unknown {
  const row =
    readDocument('docs/protocol.md')
      .split('\n')
      .find((line) => line.startsWith(`| \`${request}`)) ?? '';
  const notation = /\| [^|`]*`(\{[^`]+\})`[^|]* \|$/.exec(row)?.[1];
  if (notation === undefined) throw new Error(`docs/protocol.md has no answer to ${request}`);
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
