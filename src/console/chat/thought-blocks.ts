/** Behind a blank line, but not before what may go on with a list, a quotation or a table. */
const BOUNDARY = /(?<=\n[^\S\n]*\n)(?=[^\s\d*+>|-])/;
const FENCE = /^[^\S\n]*(?:```|~~~)/gm;

/**
 * Cuts markdown where a block ends, so that of a long text that grows only the last block is parsed again.
 * A block of code stays whole.
 */
export function thoughtBlocks(text: string): string[] {
  const blocks: string[] = [];
  let block = '';
  let fences = 0;
  for (const piece of text.split(BOUNDARY)) {
    block += piece;
    fences += piece.match(FENCE)?.length ?? 0;
    const isInCode = fences % 2 === 1;
    if (isInCode) continue;
    blocks.push(block);
    block = '';
  }
  return block === '' ? blocks : [...blocks, block];
}
