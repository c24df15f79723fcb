import { reasoningMessageId } from './message-ids.ts';
import type { InputMessage } from './run-input.ts';

/** What a client has of the reasoning of a step. A reader that joins the step gets all of it again. */
export class KnownReasoning {
  /** How many messages it is. */
  readonly messages: number;
  /** What of it has not come again. */
  #text: string;
  #isOpen: boolean;

  private constructor(texts: readonly string[]) {
    this.messages = texts.length;
    this.#text = texts.join('');
    this.#isOpen = texts.length > 0;
  }

  /** @param stepMessage the id of the message that has the text of the step. */
  static in(messages: readonly InputMessage[], stepMessage: string): KnownReasoning {
    const byId = new Map(
      messages.flatMap((one) => (one.role === 'reasoning' ? [[one.id, one.content] as const] : [])),
    );
    const texts: string[] = [];
    for (;;) {
      const text = byId.get(reasoningMessageId(stepMessage, texts.length));
      if (text === undefined) return new KnownReasoning(texts);
      texts.push(text);
    }
  }

  /** What the client lacks of a piece. */
  rest(piece: string): string {
    const known = this.#text;
    if (piece.startsWith(known)) {
      this.#text = '';
      return piece.slice(known.length);
    }
    if (known.startsWith(piece)) {
      this.#text = known.slice(piece.length);
      return '';
    }
    // The client has missed something in between.
    this.#text = '';
    this.#isOpen = false;
    return piece;
  }

  /** What follows is another message. @returns whether the last one was still to go on. */
  close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    return wasOpen;
  }
}
