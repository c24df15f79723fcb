/** Learning stops after this many events, because some streams have events with nothing in common. */
const MAX_ATTEMPTS = 12;

/** What may change in the JSON of an event. Anthropic pads its events with blanks before a brace. */
type TokenKind = 'string' | 'number' | 'blanks';

interface Token {
  readonly start: number;
  readonly end: number;
  readonly kind: TokenKind;
}

/** An event that was parsed. */
interface Example {
  readonly data: string;
  readonly tokens: readonly Token[];
}

/** The fixed text of an event, with slots for the tokens that change. */
interface Template {
  /** `fixed[i]` is the text before the token `slots[i]`; the last one ends the event. */
  readonly fixed: readonly string[];
  readonly slots: readonly TokenKind[];
  /** Index of the text in `slots`. */
  readonly textSlot: number;
}

/** The text of an event that adds only text to the reply; undefined for any other event. */
export type ReadText = (data: string) => string | undefined;

/**
 * Reads the text of a reply's events without parsing them. Nearly all events differ only in the text and in fields that
 * do not matter, such as a time, a counter or padding. An event that matches the template means the same as the learnt
 * event, with another text.
 */
export class EventTemplate {
  readonly #read: ReadText;
  #example: Example | undefined;
  /** Tokens of the example that were seen to change. */
  #changing: ReadonlySet<number> = new Set();
  #template: Template | undefined;
  #attempts = 0;

  /** @param read parses an event. A token may change if `read` finds the same text whatever the token is. */
  constructor(read: ReadText) {
    this.#read = read;
  }

  /** The text of an event that matches the template; undefined if the event must be parsed. */
  textOf(data: string): string | undefined {
    const template = this.#template;
    return template && textIn(data, template);
  }

  /** @param text of the event, found by parsing. */
  learn(data: string, text: string): void {
    if (this.#attempts === MAX_ATTEMPTS) return;
    this.#attempts += 1;
    const tokens = tokensOf(data);
    const changed = this.#example && changesBetween(this.#example, { data, tokens });
    const wider = changed && new Set([...this.#changing, ...changed]);
    const template = (wider && this.#templateOf(data, tokens, text, wider)) ?? undefined;
    this.#example = { data, tokens };
    this.#changing = template && wider ? wider : new Set();
    this.#template = template ?? this.#templateOf(data, tokens, text, this.#changing);
  }

  /** Undefined if no token is the text, or if a token that changes matters for the reply. */
  #templateOf(
    data: string,
    tokens: readonly Token[],
    text: string,
    changing: ReadonlySet<number>,
  ): Template | undefined {
    const literal = JSON.stringify(text);
    for (const [index, token] of tokens.entries()) {
      if (token.kind !== 'string' || data.slice(token.start, token.end) !== literal) continue;
      const slots = [...new Set([...changing, index])].toSorted((a, b) => a - b);
      const template = cut(data, tokens, slots, index);
      const probe = `${text} or something else`;
      if (this.#read(filled(template, probe)) === probe) return template;
    }
    return undefined;
  }
}

/** A match that ends with a colon is the name of a field, which never changes. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(?: *:)?|-?\d[\d.eE+-]*|(?<! ) *(?=})/g;

/** Not `matchAll`, which takes twice as long. */
function tokensOf(data: string): Token[] {
  const tokens: Token[] = [];
  TOKENS.lastIndex = 0;
  for (let found = TOKENS.exec(data); found !== null; found = TOKENS.exec(data)) {
    const { 0: text, index } = found;
    if (text === '') TOKENS.lastIndex += 1;
    if (!text.endsWith(':')) tokens.push({ start: index, end: index + text.length, kind: kindOf(text) });
  }
  return tokens;
}

function kindOf(text: string): TokenKind {
  if (text.startsWith('"')) return 'string';
  return text.trim() === '' ? 'blanks' : 'number';
}

/** The tokens that differ between two events; undefined when something else differs, too. */
function changesBetween(
  { data: example, tokens: known }: Example,
  { data, tokens }: Example,
): Set<number> | undefined {
  if (known.length !== tokens.length) return undefined;
  const changed = new Set<number>();
  let [knownEnd, end] = [0, 0];
  for (const [index, token] of tokens.entries()) {
    const other = known[index];
    if (other?.kind !== token.kind) return undefined;
    if (example.slice(knownEnd, other.start) !== data.slice(end, token.start)) return undefined;
    if (example.slice(other.start, other.end) !== data.slice(token.start, token.end)) changed.add(index);
    [knownEnd, end] = [other.end, token.end];
  }
  return example.slice(knownEnd) === data.slice(end) ? changed : undefined;
}

function cut(data: string, tokens: readonly Token[], slots: readonly number[], text: number): Template {
  const fixed: string[] = [];
  const kinds: TokenKind[] = [];
  let from = 0;
  for (const slot of slots) {
    const token = tokens[slot];
    if (!token) continue;
    fixed.push(data.slice(from, token.start));
    kinds.push(token.kind);
    from = token.end;
  }
  return { fixed: [...fixed, data.slice(from)], slots: kinds, textSlot: slots.indexOf(text) };
}

/** An event of the template in which everything that may change has changed. */
function filled({ fixed, slots, textSlot }: Template, text: string): string {
  const values = slots.map((kind, slot) => (slot === textSlot ? JSON.stringify(text) : OTHER_TOKENS[kind]));
  return fixed.map((part, index) => part + (values[index] ?? '')).join('');
}

const OTHER_TOKENS = { string: '"something else"', number: '987654321', blanks: '   ' } as const;

function textIn(data: string, { fixed, slots, textSlot }: Template): string | undefined {
  let [at, text] = [0, ''];
  for (let slot = 0; slot < slots.length; slot += 1) {
    const before = fixed[slot] ?? '';
    if (!isAt(data, at, before)) return undefined;
    const start = at + before.length;
    const end = slot === textSlot ? endOfText(data, start) : endOfToken(data, start, slots[slot]);
    if (end === -1) return undefined;
    if (slot === textSlot) text = data.slice(start, end);
    at = end;
  }
  return data.slice(at) === fixed.at(-1) ? textOfLiteral(text) : undefined;
}

/** The text of a JSON string literal; undefined if it is empty or not valid. */
function textOfLiteral(literal: string): string | undefined {
  if (literal.length <= 2) return undefined;
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal);
  } catch {
    return undefined; // An invalid escape: parsing the event reports the problem.
  }
}

function endOfToken(data: string, start: number, kind: TokenKind | undefined): number {
  switch (kind) {
    case 'string':
      return endOfString(data, start);
    case 'number':
      return endOfNumber(data, start);
    case 'blanks':
      return endOfBlanks(data, start);
    case undefined:
      return -1;
    default:
      return kind satisfies never;
  }
}

/** Like `startsWith`, which takes six times as long for a part of a longer string. */
function isAt(data: string, start: number, part: string): boolean {
  return data.slice(start, start + part.length) === part;
}

const CONTROL = /\p{Cc}/u;

/** End of the JSON string at `start`, which may have escapes: line breaks and quotation marks are frequent. */
function endOfText(data: string, start: number): number {
  const plain = endOfString(data, start);
  if (plain !== -1 || data[start] !== '"') return plain;
  let quote = data.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(data, quote)) quote = data.indexOf('"', quote + 1);
  return quote === -1 || CONTROL.test(data.slice(start, quote)) ? -1 : quote + 1;
}

function isEscaped(data: string, at: number): boolean {
  let before = at - 1;
  while (data[before] === '\\') before -= 1;
  return (at - before) % 2 === 0;
}

/** An escape, or a character that must be escaped. Both are left to the parser. */
const NOT_PLAIN = /[\\\p{Cc}]/u;

/** End of the JSON string at `start`; -1 if there is none, or if it has escapes. */
function endOfString(data: string, start: number): number {
  if (data[start] !== '"') return -1;
  const quote = data.indexOf('"', start + 1);
  return quote === -1 || NOT_PLAIN.test(data.slice(start + 1, quote)) ? -1 : quote + 1;
}

function endOfBlanks(data: string, start: number): number {
  let end = start;
  while (data[end] === ' ') end += 1;
  return end;
}

const ZERO = 48;
const NINE = 57;

/** End of the integer at `start`; -1 if there is none. Other numbers are left to the parser. */
function endOfNumber(data: string, start: number): number {
  let end = start;
  for (let code = data.charCodeAt(end); code >= ZERO && code <= NINE; code = data.charCodeAt(end)) end += 1;
  // JSON has no leading zeros. One of these characters after the digits means that the number is not an integer.
  if (end === start || (data[start] === '0' && end > start + 1)) return -1;
  return /[.eE+-]/.test(data[end] ?? '') ? -1 : end;
}
