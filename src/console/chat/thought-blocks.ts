/** After a blank line, unless the next line may continue a list, a quotation or a table. */
const BOUNDARY = /(?<=\n[^\S\n]*\n)(?=[^\s\d*+>|-])/;
const FENCE = /^[^\S\n]*(?:```|~~~)/gm;

/**
 * Splits markdown into blocks, so that only the last block of a growing text is parsed again. A code block stays in one
 * piece.
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
