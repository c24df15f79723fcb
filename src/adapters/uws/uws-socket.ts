import type { ClientSocket } from '../../ports/client-socket.ts';

/** What is used of a socket of uWebSockets.js. */
export interface RawSocket {
  send(text: string, isBinary: boolean): unknown;
  cork(work: () => void): unknown;
  sendFirstFragment(text: string, isBinary: boolean): unknown;
  sendFragment(text: string): unknown;
  sendLastFragment(text: string): unknown;
  subscribe(topic: string): unknown;
  unsubscribe(topic: string): unknown;
  end(code: number, reason: string): void;
  getBufferedAmount(): number;
}

/** As much as uWebSockets.js gathers for one system call. */
const BATCH_CHARACTERS = 16 * 1024;

/**
 * For a subscriber uWebSockets.js copies what it does not gather into a buffer of the socket, which keeps the size
 * of the largest frame for as long as the socket is open. So a longer one is sent in pieces, as one message.
 */
export const PIECE_CHARACTERS = 64 * 1024;

/**
 * A uWebSockets.js socket that may be called after it has closed: uWebSockets.js itself throws then.
 * What is sent in one go, such as the chunks of one read from the model service, goes out with one system
 * call, which costs ten times as much as a frame. Nothing waits for a timer.
 */
export class UwsSocket implements ClientSocket {
  readonly #ws: RawSocket;
  #open = true;
  #batch: string[] = [];
  #batchCharacters = 0;
  /** Whether it had to keep something when the last batch was sent. */
  #keeps = false;
  /** Made with the first frame, and not for each batch. */
  #flushLater: (() => void) | null = null;
  /** Whether it is one or was one, which is the same for uWebSockets.js. */
  #isSubscriber = false;

  constructor(ws: RawSocket) {
    this.#ws = ws;
  }

  send(text: string): boolean {
    if (!this.#open) return true;
    // Nothing may be published before it; what was published before it, uWebSockets.js sends first.
    if (this.#isSubscriber) this.#sendNow(text);
    else this.#sendSoon(text);
    return !this.#keeps || this.bufferedBytes() === 0;
  }

  subscribe(topic: string): void {
    this.#flush();
    if (!this.#open) return;
    this.#ws.subscribe(topic);
    this.#isSubscriber = true;
  }

  unsubscribe(topic: string): void {
    if (this.#open) this.#ws.unsubscribe(topic);
  }

  /** Without the batch: it is kept only if the client does not take it, and only then `drain` will tell. */
  bufferedBytes(): number {
    return this.#open ? this.#ws.getBufferedAmount() : 0;
  }

  /** For uWebSockets.js the socket is closed at once; what is kept still goes out, as long as the client takes some of it every few seconds. */
  end(code: number, reason: string): void {
    this.#flush();
    if (this.#open) this.#ws.end(code, reason);
  }

  /** To be called when the socket has closed. */
  closed(): void {
    this.#open = false;
  }

  #sendSoon(text: string): void {
    this.#flushLater ??= () => this.#flush();
    if (this.#batch.push(text) === 1) queueMicrotask(this.#flushLater);
    this.#batchCharacters += text.length;
    // So that a caller who sends much at once is told in time when it is too much.
    if (this.#batchCharacters >= BATCH_CHARACTERS) this.#flush();
  }

  #flush(): void {
    const batch = this.#batch;
    if (!this.#open || batch.length === 0) return;
    this.#batch = [];
    this.#batchCharacters = 0;
    const [first = ''] = batch;
    if (batch.length === 1) this.#ws.send(first, false);
    else
      this.#ws.cork(() => {
        for (const text of batch) this.#ws.send(text, false);
      });
    this.#keeps = this.bufferedBytes() > 0;
  }

  #sendNow(text: string): void {
    if (text.length > PIECE_CHARACTERS) this.#sendInPieces(text);
    else this.#ws.send(text, false);
    this.#keeps = this.bufferedBytes() > 0;
  }

  #sendInPieces(text: string): void {
    let end = pieceEnd(text, 0);
    this.#ws.sendFirstFragment(text.slice(0, end), false);
    while (text.length - end > PIECE_CHARACTERS) {
      const start = end;
      end = pieceEnd(text, start);
      this.#ws.sendFragment(text.slice(start, end));
    }
    this.#ws.sendLastFragment(text.slice(end));
  }
}

/** A character of two code units stays whole: each piece is encoded by itself. */
function pieceEnd(text: string, start: number): number {
  const end = start + PIECE_CHARACTERS;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
