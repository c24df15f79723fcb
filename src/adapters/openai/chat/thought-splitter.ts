/** A piece of content, split into reasoning and text. */
export interface SplitPiece {
  readonly reasoning: string;
  readonly text: string;
}

const OPENING = /^\s*<(think|thought)>\s*/;
/** Possibly the beginning of an opening tag: more content is needed to decide. */
const MAYBE_OPENING = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k)?)?|o(?:u(?:g(?:h(?:t)?)?)?)?)?)?)?)?$/;
const CLOSING = /\s*<\/(?:think|thought)>\s*/;
const MAYBE_CLOSING = /\s*(?:<(?:\/(?:t(?:h(?:i(?:n(?:k)?)?|o(?:u(?:g(?:h(?:t)?)?)?)?)?)?)?)?)?$/;

/**
 * Splits a reply that begins with reasoning: `<think>…</think>` of MiniMax and local servers, or `<thought>` in content
 * that Google flags as reasoning. Later tags are text.
 */
export class ThoughtSplitter {
  #state: 'start' | 'thinking' | 'text' = 'start';
  #isFlagged = false;
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
    if (this.#isFlagged && !isFlagged) {
      this.#state = 'text';
      return { reasoning: '', text: piece.replace(new RegExp(`^${CLOSING.source}`), '') };
    }
    return this.#think(piece);
  }

  /** The content that was held back because it could have been a part of a tag. */
  end(): SplitPiece {
    const held = this.#held;
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

  #think(piece: string): SplitPiece {
    const closing = CLOSING.exec(piece);
    if (closing === null) {
      const end = MAYBE_CLOSING.exec(piece)?.index ?? piece.length;
      this.#held = piece.slice(end);
      return { reasoning: piece.slice(0, end), text: '' };
    }
    this.#state = 'text';
    return {
      reasoning: piece.slice(0, closing.index),
      text: piece.slice(closing.index + closing[0].length),
    };
  }
}
