import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Prints each as a line of JSON. */
export async function printLines(items: Iterable<object> | AsyncIterable<object>): Promise<void> {
  await print(linesOf(items));
}

async function* linesOf(items: Iterable<object> | AsyncIterable<object>): AsyncGenerator<string, void, void> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}

type Piece = string | Uint8Array;

/** Prints with backpressure. */
export function print(pieces: Iterable<Piece> | AsyncIterable<Piece>): Promise<void> {
  return pipeline(Readable.from(pieces), process.stdout, { end: false });
}
