/** Cuts a text that is too long, in UTF-16 code units, and marks the cut with an ellipsis. */
export function shorten(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${beginningOf(text, maxCharacters)}…`;
}

/** The beginning of a text. A half of a character, which many programs refuse, is left out. */
export function beginningOf(text: string, maxCharacters: number): string {
  return text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '');
}
