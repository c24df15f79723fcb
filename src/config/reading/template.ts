/** A piece of a text in an agent file. `source` is the piece as written. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly source: string }
  | { readonly kind: 'dollar'; readonly source: '$$' }
  | {
      readonly kind: 'variable';
      readonly source: string;
      readonly name: string;
      /** The text after `:-`, which may hold references. */
      readonly fallback?: string;
    }
  | { readonly kind: 'malformed'; readonly source: string };

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;

/**
 * Splits a text into plain text and references: `$NAME`, `${NAME}`, `${NAME:-default}`, and `$$` for a dollar sign.
 * `${env:NAME}`, as other programs write it, is `${NAME}`. A `$` without a name behind it is plain text, so `$5` and `^a$` need no escape.
 */
export function parseTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let textStart = 0;
  let at = text.indexOf('$');
  while (at !== -1) {
    const part = partAt(text, at);
    if (part !== undefined) {
      if (at > textStart) parts.push({ kind: 'text', source: text.slice(textStart, at) });
      parts.push(part);
      textStart = at + part.source.length;
    }
    at = text.indexOf('$', part === undefined ? at + 1 : textStart);
  }
  if (textStart < text.length) parts.push({ kind: 'text', source: text.slice(textStart) });
  return parts;
}

/** Escapes a text so that `parseTemplate` reads it as plain text. */
export function escapeTemplate(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function partAt(text: string, at: number): TemplatePart | undefined {
  if (text[at + 1] === '$') return { kind: 'dollar', source: '$$' };
  const braced = text[at + 1] === '{';
  const nameStart = at + (braced ? (text.startsWith('env:', at + 2) ? 6 : 2) : 1);
  const name = nameAt(text, nameStart);
  if (name === undefined) return undefined;
  const nameEnd = nameStart + name.length;
  if (!braced) return { kind: 'variable', source: text.slice(at, nameEnd), name };
  const close = closingBrace(text, nameEnd);
  const source = text.slice(at, close + 1);
  if (close === nameEnd) return { kind: 'variable', source, name };
  if (close === -1 || !text.startsWith(':-', nameEnd)) {
    return { kind: 'malformed', source: close === -1 ? text.slice(at) : source };
  }
  return { kind: 'variable', source, name, fallback: text.slice(nameEnd + 2, close) };
}

function nameAt(text: string, start: number): string | undefined {
  NAME.lastIndex = start;
  return NAME.exec(text)?.[0];
}

/** Index of the brace that closes the `${` before `start`; -1 if there is none. */
function closingBrace(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}
