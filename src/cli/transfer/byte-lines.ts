const NEWLINE = 0x0a;

/**
 * Cuts bytes into lines, at line feeds alone: Node's readline would also cut at U+2028, which JSON leaves as it
 * is. What follows the last line feed is a line if there is anything.
 */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  // Pieces are joined once a line: joining at each chunk costs quadratic time for a long line.
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
