/** A piece of content, split into reasoning and text. */
export interface SplitPiece {
  readonly reasoning: string;
  readonly text: string;
}

const OPENING = /^\s*<(think|thought)>\s*/;
/** Possibly the beginning of an opening tag: more content is needed to decide. */
const MAYBE_OPENING = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k)?)?|o(?:u(?:g(?:h(?:t)?)?)?)?)?)?)?)?$/;
const CLOSING = /<\/(?:think|thought)>/;
const CLOSING_TAGS = ['</think>', '</thought>'];
const BEGINS_CLOSED = /^\s*<\/(?:think|thought)>\s*/;

/**
 * Splits a reply that begins with reasoning: `<think>…</think>` of MiniMax and local servers, or `<thought>` in content
 * that Google flags as reasoning. Later tags are text.
 */
export class ThoughtSplitter {
  #state: 'start' | 'thinking' | 'text' = 'start';
  #isFlagged = false;
  /** Spaces that belong to the reasoning if more of it follows. Models may think in nothing else for long. */
  #blanks = '';
  /** What could be the beginning of a tag. */
  #held = '';

  /** Whether the rest of the reply is text only. */
  get isPast(): boolean {
    return this.#state === 'text';
  }

  /** @param isFlagged whether the provider flags this content as reasoning. */
  take(content: string, isFlagged = false): SplitPiece {
    if (this.#state === 'text') return { reasoning: '', text: content };
    const piece = this.#held + content;
    this.#held = '';
    if (this.#state === 'start') return this.#begin(piece, isFlagged);
    if (this.#isFlagged && !isFlagged) return this.#unflagged(piece);
    return this.#think(piece);
  }

  /** The content that was held back because it could have been a part of a tag. */
  end(): SplitPiece {
    const held = this.#takeBlanks() + this.#held;
    this.#held = '';
    return this.#state === 'thinking' ? { reasoning: held, text: '' } : { reasoning: '', text: held };
  }

  #begin(piece: string, isFlagged: boolean): SplitPiece {
    const opening = OPENING.exec(piece);
    const isThought = isFlagged || opening?.[1] === 'think';
    if (isThought) {
      this.#state = 'thinking';
      this.#isFlagged = isFlagged;
      return this.#think(piece.slice(opening?.[0].length ?? 0));
    }
    if (opening === null && MAYBE_OPENING.test(piece)) {
      this.#held = piece;
      return { reasoning: '', text: '' };
    }
    this.#state = 'text';
    return { reasoning: '', text: piece };
  }

  /** The first content that the provider does not flag as reasoning any more. */
  #unflagged(piece: string): SplitPiece {
    this.#state = 'text';
    const blanks = this.#takeBlanks();
    const [closing = ''] = BEGINS_CLOSED.exec(piece) ?? [];
    return { reasoning: closing === '' ? blanks : '', text: piece.slice(closing.length) };
  }

  #think(piece: string): SplitPiece {
    const closing = CLOSING.exec(piece);
    const end = closing?.index ?? maybeClosingAt(piece);
    const thought = piece.slice(0, end);
    const said = thought.trimEnd();
    const blanks = this.#takeBlanks();
    const reasoning = said === '' ? '' : blanks + said;
    if (closing) {
      this.#state = 'text';
      return { reasoning, text: piece.slice(end + closing[0].length).trimStart() };
    }
    this.#blanks = said === '' ? blanks + thought : thought.slice(said.length);
    this.#held = piece.slice(end);
    return { reasoning, text: '' };
  }

  #takeBlanks(): string {
    const blanks = this.#blanks;
    this.#blanks = '';
    return blanks;
  }
}

/** Where the piece could end in the beginning of a closing tag; its length if it does not. */
function maybeClosingAt(piece: string): number {
  const at = piece.lastIndexOf('<');
  const isOpen = at !== -1 && CLOSING_TAGS.some((tag) => tag.startsWith(piece.slice(at)));
  return isOpen ? at : piece.length;
}
