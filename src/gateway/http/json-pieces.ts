/** About how long a piece is at most. Longer texts are written in several. */
const PIECE_CHARACTERS = 64 * 1024;

/** The JSON of a value that came out of JSON, in pieces. Together they are what `JSON.stringify` makes of it. */
export function* jsonPieces(value: unknown): Generator<string, void, void> {
  if (charactersIn(value, PIECE_CHARACTERS) <= PIECE_CHARACTERS) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* textPieces(value);
  else if (Array.isArray(value)) yield* listPieces(value);
  else if (isObject(value)) yield* objectPieces(value);
}

/** How long the texts in a value are together; what is beyond `most` is not counted. Anything else counts as a few characters. */
export function charactersIn(value: unknown, most = Infinity): number {
  if (typeof value === 'string') return value.length + 2;
  if (!isObject(value)) return 4;
  let sum = 2;
  for (const key in value) {
    sum += key.length + charactersIn(value[key], most - sum);
    if (sum > most) break;
  }
  return sum;
}

function* listPieces(items: readonly unknown[]): Generator<string, void, void> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* jsonPieces(item);
    before = ',';
  }
  yield ']';
}

function* objectPieces(object: Readonly<Record<string, unknown>>): Generator<string, void, void> {
  let before = '{';
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    yield* jsonPieces(value);
    before = ',';
  }
  yield '}';
}

function* textPieces(text: string): Generator<string, void, void> {
  yield '"';
  for (let start = 0; start < text.length; ) {
    let end = start + PIECE_CHARACTERS;
    // Half a character would be written as an escape.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    yield JSON.stringify(text.slice(start, end)).slice(1, -1);
    start = end;
  }
  yield '"';
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
