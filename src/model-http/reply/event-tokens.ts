import type { EventPattern, TokenKind } from './event-pattern.ts';

/** A part of an event that may change. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly kind: TokenKind;
}

/** An event that was parsed. */
export interface Example {
  readonly data: string;
  readonly tokens: readonly Token[];
}

/** A match that ends with a colon is the name of a field, which never changes. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(?:[ \t\r\n]*:)?|-?\d[\d.eE+-]*|(?<! ) *(?=})/g;

/** @param data JSON. Not with `matchAll`, which takes twice as long. */
export function exampleOf(data: string): Example {
  const tokens: Token[] = [];
  TOKENS.lastIndex = 0;
  for (let found = TOKENS.exec(data); found !== null; found = TOKENS.exec(data)) {
    const { 0: text, index } = found;
    if (text === '') TOKENS.lastIndex += 1;
    if (!text.endsWith(':')) tokens.push({ start: index, end: index + text.length, kind: kindOf(text) });
  }
  return { data, tokens };
}

function kindOf(text: string): TokenKind {
  if (text.startsWith('"')) return 'string';
  return text.trim() === '' ? 'blanks' : 'number';
}

/** Indexes of the tokens that differ between two events; undefined when something else differs, too. */
export function changesBetween(
  { data: before, tokens: known }: Example,
  { data, tokens }: Example,
): Set<number> | undefined {
  if (known.length !== tokens.length) return undefined;
  const changed = new Set<number>();
  let [knownEnd, end] = [0, 0];
  for (const [index, token] of tokens.entries()) {
    const other = known[index];
    if (other?.kind !== token.kind) return undefined;
    if (before.slice(knownEnd, other.start) !== data.slice(end, token.start)) return undefined;
    if (before.slice(other.start, other.end) !== data.slice(token.start, token.end)) changed.add(index);
    [knownEnd, end] = [other.end, token.end];
  }
  return before.slice(knownEnd) === data.slice(end) ? changed : undefined;
}

/** Whether the token is the text, however the provider escapes it. */
export function isText(text: string, { start, end, kind }: Token, data: string): boolean {
  return kind === 'string' && JSON.parse(data.slice(start, end)) === text;
}

/** @param changing indexes of the tokens that may change. @param text index of the token that is the text. */
export function patternOf(
  { data, tokens }: Example,
  changing: ReadonlySet<number>,
  text: number,
): EventPattern {
  const fixed: string[] = [];
  const slots: TokenKind[] = [];
  let [from, textSlot] = [0, -1];
  for (const [index, { start, end, kind }] of tokens.entries()) {
    if (index !== text && !changing.has(index)) continue;
    if (index === text) textSlot = slots.length;
    fixed.push(data.slice(from, start));
    slots.push(kind);
    from = end;
  }
  return { fixed: [...fixed, data.slice(from)], slots, textSlot };
}
