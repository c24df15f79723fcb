/** After a blank line, unless the next line may continue a list, a quotation or a table. */
const BOUNDARY = /(?<=\n[^\S\n]*\n)(?=[^\s\d*+>|-])/;
/** Where it stands: the indent and the marks of lists and quotations; then the marks, and the rest of the line. */
const FENCE = /^((?:[^\S\n]|[\d*+>.)-])*)(`{3,}(?=[^`\n]*$)|~{3,})(.*)$/gm;
/** A definition, which any block may refer to, or HTML that goes on after a blank line. */
const WHOLE = /^(?:[^\S\n]|[\d*+>.)-])*(?:\[[^\]\n]+\]:|<(?:[!?]|pre|script|style|textarea))/im;

interface Fence {
  readonly place: string;
  readonly marks: string;
}

/**
 * Splits markdown into blocks that can be parsed by themselves, so that only the last block of a growing text is parsed
 * again. Where that is not safe, the text stays in one piece.
 */
export function markdownBlocks(text: string): string[] {
  if (WHOLE.test(text)) return [text];
  const blocks: string[] = [];
  let block = '';
  let fence: Fence | null = null;
  for (const piece of text.split(BOUNDARY)) {
    block += piece;
    fence = fenceAfter(piece, fence);
    if (fence) continue;
    blocks.push(block);
    block = '';
  }
  return block === '' ? blocks : [...blocks, block];
}

/** @returns the fence of the code that is still open after the piece. */
function fenceAfter(piece: string, before: Fence | null): Fence | null {
  let open = before;
  for (const [, place = '', marks = '', rest = ''] of piece.matchAll(FENCE)) {
    if (!open) open = { place, marks };
    else if (rest.trim() === '' && closes({ place, marks }, open)) open = null;
  }
  return open;
}

function closes({ place, marks }: Fence, open: Fence): boolean {
  // With more indent, it is code.
  return marks.startsWith(open.marks) && place.trim() === '' && place.length <= open.place.length + 3;
}
