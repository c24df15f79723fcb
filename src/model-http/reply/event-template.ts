import { filled, regExpOf, type TokenKind, textIn } from './event-pattern.ts';
import { changesBetween, type Example, exampleOf, isText, patternOf } from './event-tokens.ts';

/** Learning from an event costs as much as parsing some twenty, and some streams have events with nothing in common. */
const FREE_ATTEMPTS = 12;
const EVENTS_PER_ATTEMPT = 50;

/** Longer events are parsed: the time for what does not change matters little, and an example is kept in memory. */
const MAX_CHARACTERS = 16 * 1024;

/** What stands in the slots of the events that test a template. */
const TESTS: readonly Readonly<Record<TokenKind, string>>[] = [
  { string: '"something else"', number: '987654321', blanks: '   ' },
  { string: '""', number: '0', blanks: '' },
];

/**
 * The text of an event that adds only text to the reply; undefined for any other event. The result may depend on the
 * event alone.
 */
export type ReadText = (data: string) => string | undefined;

/**
 * Reads the text of events without parsing them. The events of a model differ only in the text and in fields that do
 * not matter, such as an id, a time, a counter or padding. Two parsed events tell which fields change; the rest of the
 * event has to be the same, to the character.
 *
 * One template serves all replies of a model, so it is learnt once and not at the beginning of each reply.
 */
export class EventTemplate {
  readonly #read: ReadText;
  #example: Example | undefined;
  /** Tokens of the example that were seen to change. */
  #changing: ReadonlySet<number> = new Set();
  #pattern: RegExp | undefined;
  #attempts = 0;
  #events = 0;

  /** @param read parses an event. */
  constructor(read: ReadText) {
    this.#read = read;
  }

  /** The text of an event that matches the template; undefined if the event must be parsed. */
  textOf(data: string): string | undefined {
    if (this.#pattern === undefined || data.length > MAX_CHARACTERS) return undefined;
    this.#events += 1;
    return textIn(data, this.#pattern);
  }

  /** @param text of the event, found by parsing. */
  learn(data: string, text: string): void {
    const allowed = FREE_ATTEMPTS + Math.floor(this.#events / EVENTS_PER_ATTEMPT);
    if (this.#attempts >= allowed || data.length > MAX_CHARACTERS) return;
    this.#attempts += 1;
    const known = this.#example;
    const example = exampleOf(data);
    this.#example = example;
    const changed = known && changesBetween(known, example);
    if (changed && this.#tryChanging(example, text, new Set([...this.#changing, ...changed]))) return;
    if (!this.#tryChanging(example, text, new Set())) this.#pattern = undefined;
  }

  /** Fails if no token is the text, or if a token that changes matters for the reply. */
  #tryChanging(example: Example, text: string, changing: ReadonlySet<number>): boolean {
    this.#changing = changing;
    const other = `${text} or something else`;
    for (const [index, token] of example.tokens.entries()) {
      if (!isText(text, token, example.data)) continue;
      const pattern = patternOf(example, changing, index);
      if (!TESTS.every((tokens) => this.#read(filled(pattern, other, tokens)) === other)) continue;
      this.#pattern = regExpOf(pattern);
      return true;
    }
    return false;
  }
}
