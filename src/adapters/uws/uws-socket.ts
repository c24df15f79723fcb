import type { ClientSocket } from '../../ports/client-socket.ts';

/** The methods that are used of a uWebSockets.js socket. */
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

/** The size of the buffer in which uWebSockets.js gathers frames for one system call. */
const BATCH_CHARACTERS = 16 * 1024;

/**
 * Longer frames to a subscriber are sent as one message in several fragments. uWebSockets.js would copy the whole frame
 * into a buffer of the socket, which keeps its largest size as long as the socket is open.
 */
export const PIECE_CHARACTERS = 64 * 1024;

/**
 * A uWebSockets.js socket whose methods may be called after it has closed, where uWebSockets.js itself throws.
 * Frames that are sent in one go, such as the chunks of one read from the model service, share one system call, which
 * costs ten times as much as a frame. No frame waits for a timer.
 */
export class UwsSocket implements ClientSocket {
  /** Null once the socket has closed. */
  #ws: RawSocket | null;
  /** Null while nothing waits to be sent. */
  #batch: string[] | null = null;
  #batchCharacters = 0;
  /** Whether uWebSockets.js had to buffer something when the last batch was sent. */
  #isBuffering = false;
  /** Created with the first frame, and reused for each batch. */
  #flushLater: (() => void) | null = null;
  /** Whether the socket has ever subscribed. uWebSockets.js treats it as a subscriber from then on. */
  #isSubscriber = false;

  constructor(ws: RawSocket) {
    this.#ws = ws;
  }

  send(text: string): boolean {
    if (this.#ws === null) return true;
    // A subscriber's frames are not batched, so that they keep their order with published frames.
    if (this.#isSubscriber) this.#sendNow(this.#ws, text);
    else this.#sendSoon(text);
    return !this.#isBuffering || this.bufferedBytes() === 0;
  }

  subscribe(topic: string): void {
    this.#flush();
    if (this.#ws === null) return;
    this.#ws.subscribe(topic);
    this.#isSubscriber = true;
  }

  unsubscribe(topic: string): void {
    this.#ws?.unsubscribe(topic);
  }

  /** Without the batch: `drain` reports only what uWebSockets.js has buffered. */
  bufferedBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0;
  }

  /** uWebSockets.js closes the socket at once. It still sends its buffer while the client reads. */
  end(code: number, reason: string): void {
    this.#flush();
    this.#ws?.end(code, reason);
  }

  /** Call it when the socket has closed. */
  closed(): void {
    this.#ws = null;
  }

  #sendSoon(text: string): void {
    this.#flushLater ??= () => this.#flush();
    if (this.#batch) this.#batch.push(text);
    else {
      this.#batch = [text];
      queueMicrotask(this.#flushLater);
    }
    this.#batchCharacters += text.length;
    // Flushes now, so that a caller who sends much at once learns in time that the client does not keep up.
    if (this.#batchCharacters >= BATCH_CHARACTERS) this.#flush();
  }

  #flush(): void {
    const batch = this.#batch;
    const ws = this.#ws;
    if (ws === null || batch === null) return;
    this.#batch = null;
    this.#batchCharacters = 0;
    const [first = ''] = batch;
    if (batch.length === 1) ws.send(first, false);
    else
      ws.cork(() => {
        for (const text of batch) ws.send(text, false);
      });
    this.#isBuffering = this.bufferedBytes() > 0;
  }

  #sendNow(ws: RawSocket, text: string): void {
    if (text.length > PIECE_CHARACTERS) sendInPieces(ws, text);
    else ws.send(text, false);
    this.#isBuffering = this.bufferedBytes() > 0;
  }
}

function sendInPieces(ws: RawSocket, text: string): void {
  let end = pieceEnd(text, 0);
  ws.sendFirstFragment(text.slice(0, end), false);
  while (text.length - end > PIECE_CHARACTERS) {
    const start = end;
    end = pieceEnd(text, start);
    ws.sendFragment(text.slice(start, end));
  }
  ws.sendLastFragment(text.slice(end));
}

/** Never splits a surrogate pair, because each piece is encoded separately. */
function pieceEnd(text: string, start: number): number {
  const end = start + PIECE_CHARACTERS;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}
