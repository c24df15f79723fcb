/** Longest piece, in UTF-16 code units. */
const MAX_LENGTH = 32;

/**
 * Cuts a text into pieces by a rule that looks at nothing but the text: a piece ends before each word, and after 32
 * characters. So a stream that is read again has the same pieces, however the model streamed it.
 */
export class TextPieces {
  #rest = '';

  /** @returns the pieces that are whole. */
  add(text: string): string[] {
    const pieces: string[] = [];
    let rest = this.#rest + text;
    for (let end = endOfPiece(rest); end > 0; end = endOfPiece(rest)) {
      pieces.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
    this.#rest = rest;
    return pieces;
  }

  /** @returns the last piece; empty if there is none. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    return rest;
  }
}

/** 0 if it is not known yet where the piece ends. */
function endOfPiece(text: string): number {
  for (let index = 1; index < text.length; index += 1) {
    const isWord = isSpace(text.charCodeAt(index - 1)) && !isSpace(text.charCodeAt(index));
    const isFull = index >= MAX_LENGTH && !isHighSurrogate(text.charCodeAt(index - 1));
    if (isWord || isFull) return index;
  }
  return 0;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
}

/** The first half of a character. */
function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
