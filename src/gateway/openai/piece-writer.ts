/**
 * @param write writes an event with this text. No other text that may be empty follows it.
 * @returns the same, much faster: what is before the text and after it is written only once.
 */
export function pieceWriter(write: (text: string) => string): (text: string) => string {
  const empty = write('');
  const at = empty.lastIndexOf('""');
  const before = empty.slice(0, at);
  const after = empty.slice(at + 2);
  return (text) => before + JSON.stringify(text) + after;
}
