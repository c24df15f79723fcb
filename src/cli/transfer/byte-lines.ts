const NEWLINE = 0x0a;

/**
 * Splits bytes into lines at line feeds only. Node's readline would also split at U+2028, which JSON does not escape.
 * Bytes after the last line feed are a line too.
 */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  // Pieces are joined once per line: joining at each chunk would take quadratic time for a long line.
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...pieces, chunk.subarray(start, end)]);
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}
