/** What may change in the JSON of an event. Anthropic pads its events with blanks before a brace. */
export type TokenKind = 'string' | 'number' | 'blanks';

/** The fixed text of an event, with slots for the tokens that may change. */
export interface EventPattern {
  /** `fixed[i]` is the text before the token `slots[i]`; the last one ends the event. */
  readonly fixed: readonly string[];
  readonly slots: readonly TokenKind[];
  /** Index of the text in `slots`. */
  readonly textSlot: number;
}

/** The inside of a string exactly as JSON defines it, so that no other text can pass for a string. */
const INSIDE = String.raw`[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*`;

/**
 * A number is an integer that JavaScript holds exactly: a count stays a count, whatever its value. Others are left to
 * the parser.
 */
const SLOTS = { string: `"${INSIDE}"`, number: String.raw`(?:0|[1-9]\d{0,14})`, blanks: ' *' } as const;

/** A regular expression for the events of a pattern. Its group is the inside of the text. */
export function regExpOf({ fixed, slots, textSlot }: EventPattern): RegExp {
  const source = fixed.map((part, index) => {
    const kind = slots[index];
    const slot = index === textSlot ? `"(${INSIDE})"` : kind === undefined ? '' : SLOTS[kind];
    return literally(part) + slot;
  });
  return new RegExp(`^${source.join('')}$`);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** The text of an event of the pattern; undefined for other events, and for one without text. */
export function textIn(data: string, pattern: RegExp): string | undefined {
  const inside = pattern.exec(data)?.[1];
  if (inside === undefined || inside === '') return undefined;
  return inside.includes('\\') ? JSON.parse(`"${inside}"`) : inside;
}

/** An event of the pattern with this text and these tokens. */
export function filled(
  { fixed, slots, textSlot }: EventPattern,
  text: string,
  tokens: Readonly<Record<TokenKind, string>>,
): string {
  const values = slots.map((kind, slot) => (slot === textSlot ? JSON.stringify(text) : tokens[kind]));
  return fixed.map((part, index) => part + (values[index] ?? '')).join('');
}
