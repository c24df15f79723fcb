/** Pieces are sent together up to this length. */
const CHUNK_CHARACTERS = 64 * 1024;

/** A body of texts that are made as the client reads. */
export function textBody(texts: AsyncIterable<string> | Iterable<string>): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunksOf(texts));
}

async function* chunksOf(
  texts: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<Uint8Array, void, void> {
  let chunk = '';
  for await (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  if (chunk !== '') yield Buffer.from(chunk);
}
