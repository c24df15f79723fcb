/** The data of an event that is named by its type. */
export interface TypedData {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** @param blanks before the last brace: Anthropic hides by them how long a text is. */
export function namedEvent(data: TypedData, blanks = 0): string {
  const json = JSON.stringify(data);
  return `event: ${data.type}\ndata: ${json.slice(0, -1)}${' '.repeat(blanks)}}\n\n`;
}
