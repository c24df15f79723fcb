/** The data of a server-sent event whose name is its `type`. */
export interface TypedData {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** @param blanks Spaces before the last brace, with which Anthropic hides the length of a text. */
export function namedEvent(data: TypedData, blanks = 0): string {
  const json = JSON.stringify(data);
  return `event: ${data.type}\ndata: ${json.slice(0, -1)}${' '.repeat(blanks)}}\n\n`;
}
