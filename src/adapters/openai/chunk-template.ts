import { parseEvent } from './chat-chunk.ts';

/** Chunks that have nothing in common, of whatever provider, are not compared forever. */
const MAX_ATTEMPTS = 4;
const PADDING = '"obfuscation":"';

/** A chunk around its two strings that change: the text, and the padding by which OpenAI hides its length. */
interface Template {
  readonly head: string;
  readonly middle: string;
  /** Undefined when there is no padding: then the middle is all of the rest. */
  readonly tail: string | undefined;
}

/**
 * Reads the text of the chunks of one reply without parsing them: nearly all are the same but for the text.
 * A chunk like the last one, with another JSON string in the place of the text, says what the last one said,
 * with that text.
 */
export class ChunkTemplate {
  #template: Template | undefined;
  #attempts = 0;

  /** The text of a chunk that is like the one that was learnt; undefined if it has to be parsed. */
  textOf(data: string): string | undefined {
    if (!this.#template) return undefined;
    const { head, middle, tail } = this.#template;
    if (!isAt(data, 0, head)) return undefined;
    const end = endOfString(data, head.length);
    if (end === -1 || !isAt(data, end, middle)) return undefined;
    const rest = end + middle.length;
    const after = tail === undefined ? rest : endOfString(data, rest);
    const isWhole = after !== -1 && data.slice(after) === (tail ?? '');
    return isWhole && end - head.length > 2 ? data.slice(head.length + 1, end - 1) : undefined;
  }

  /** @param text what parsing has found to be all that the chunk says. */
  learn(data: string, text: string): void {
    if (this.#attempts === MAX_ATTEMPTS || (this.#template && isAt(data, 0, this.#template.head))) return;
    this.#attempts += 1;
    this.#template = templateOf(data, text);
  }
}

function templateOf(data: string, text: string): Template | undefined {
  const literal = JSON.stringify(text);
  const at = data.indexOf(literal, data.indexOf('"content"'));
  if (at === -1) return undefined;
  const head = data.slice(0, at);
  const rest = data.slice(at + literal.length);
  const template = padded(head, rest) ?? { head, middle: rest, tail: undefined };
  // Whether this string is the text, and no other that reads the same.
  const probe = `${text} or something else`;
  const { middle, tail } = template;
  const other = head + JSON.stringify(probe) + middle + (tail === undefined ? '' : `"other"${tail}`);
  const event = parseEvent(other);
  return event.kind === 'text' && event.text === probe ? template : undefined;
}

function padded(head: string, rest: string): Template | undefined {
  const at = rest.indexOf(PADDING);
  if (at === -1) return undefined;
  const start = at + PADDING.length - 1;
  const end = endOfString(rest, start);
  return end === -1 ? undefined : { head, middle: rest.slice(0, start), tail: rest.slice(end) };
}

/** Compares as `startsWith` does, which takes six times as long for a part of a longer string. */
function isAt(data: string, start: number, part: string): boolean {
  return data.slice(start, start + part.length) === part;
}

/** What a JSON string must have escaped, or has: both are left to the parser. */
const NOT_PLAIN = /[\\\p{Cc}]/u;

/** Where the JSON string ends that begins at `start`; -1 if there is none, or one with escapes. */
function endOfString(data: string, start: number): number {
  if (data[start] !== '"') return -1;
  const quote = data.indexOf('"', start + 1);
  return quote === -1 || NOT_PLAIN.test(data.slice(start + 1, quote)) ? -1 : quote + 1;
}
