import type { ClientSocket } from '../../ports/client-socket.ts';
import { FrameBatch } from './frame-batch.ts';
import type { RawSocket } from './raw-socket.ts';

/**
 * Longer frames to a subscriber are sent as one message in several fragments. uWebSockets.js would copy the whole frame
 * into a buffer of the socket, which keeps its largest size as long as the socket is open.
 */
export const PIECE_CHARACTERS = 64 * 1024;

/** A uWebSockets.js socket whose methods may be called after it has closed, where uWebSockets.js itself throws. */
export class UwsSocket implements ClientSocket {
  /** Null once the socket has closed. */
  #ws: RawSocket | null;
  /** Created with the first frame, because most clients are silent most of the time. */
  #batch: FrameBatch | null = null;
  /** Whether the socket has ever subscribed. uWebSockets.js treats it as a subscriber from then on. */
  #isSubscriber = false;

  constructor(ws: RawSocket) {
    this.#ws = ws;
  }

  send(text: string): boolean {
    if (this.#ws === null) return true;
    // A subscriber's frames are not batched, so that they keep their order with published frames.
    if (this.#isSubscriber) return sendNow(this.#ws, text);
    this.#batch ??= new FrameBatch(this.#ws);
    return this.#batch.add(text);
  }

  subscribe(topic: string): void {
    this.#batch?.flush();
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
    this.#batch?.flush();
    this.#ws?.end(code, reason);
  }

  /** Call it when the socket has closed. */
  closed(): void {
    this.#ws = null;
    this.#batch?.closed();
  }
}

/** @returns false if uWebSockets.js had to buffer something. */
function sendNow(ws: RawSocket, text: string): boolean {
  if (text.length > PIECE_CHARACTERS) sendInPieces(ws, text);
  else ws.send(text, false);
  return ws.getBufferedAmount() === 0;
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
