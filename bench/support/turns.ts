import { localUrl } from './http-load.ts';
import { type OnFrame, WebSocketClient } from './websocket-client.ts';

/** The part of a WebSocketClient that a turn needs. */
export interface TurnSocket {
  onFrame: OnFrame;
  onClose: () => void;
  send(text: string): void;
}

/** What a socket received of a turn. */
export interface TurnReceipt {
  /** From the call of `oneTurn` to the first chunk. */
  readonly firstChunkMs: number;
  readonly totalMs: number;
  readonly chunkFrames: number;
  readonly responseBytes: number;
}

/** Frames begin with `{"event":"chunk"` and the like. The character at this offset tells them apart. */
const EVENT_AT = '{"event":"'.length;
const code = { chunk: 'c'.charCodeAt(0), response: 'r'.charCodeAt(0), error: 'e'.charCodeAt(0) };

/**
 * Sends a message (null: none) and receives a turn to its end. Rejects when the turn fails. One turn at a time per
 * socket.
 * @param onChunk Gets the number of chunk frames so far, with each of them.
 */
export function oneTurn(
  socket: TurnSocket,
  content: string | null,
  onChunk: (chunkFrames: number) => void = () => undefined,
): Promise<TurnReceipt> {
  return new Promise((resolve, reject) => {
    let chunkFrames = 0;
    let firstAt = 0;
    const sent = performance.now();
    socket.onClose = () => reject(new Error('the server closed the socket'));
    socket.onFrame = (bytes, start, end) => {
      const kind = bytes[start + EVENT_AT];
      if (kind === code.chunk) {
        chunkFrames += 1;
        if (chunkFrames === 1) firstAt = performance.now();
        onChunk(chunkFrames);
      } else if (kind === code.response) {
        const totalMs = performance.now() - sent;
        resolve({ firstChunkMs: firstAt - sent, totalMs, chunkFrames, responseBytes: end - start });
      } else if (kind === code.error) reject(new Error(bytes.toString('utf8', start, end)));
    };
    if (content !== null) socket.send(JSON.stringify({ type: 'message', content }));
  });
}

/** A thousand handshakes at once would overflow the listen queue of the port. */
const HANDSHAKES_AT_ONCE = 100;

type OpenSockets = (
  port: number,
  count: number,
  /** The session of the socket with this index. */
  sessionOf: (index: number) => string,
) => Promise<WebSocketClient[]>;

export const openSockets: OpenSockets = socketsWith({});

/** Opens sockets with these headers of the handshake. */
export function socketsWith(headers: Readonly<Record<string, string>>): OpenSockets {
  return (port, count, sessionOf) =>
    openAll(count, (index) => {
      const path = `/?session=${sessionOf(index)}`;
      return WebSocketClient.open(localUrl(port), path, { headers });
    });
}

async function openAll(
  count: number,
  open: (index: number) => Promise<WebSocketClient>,
): Promise<WebSocketClient[]> {
  const sockets: WebSocketClient[] = [];
  while (sockets.length < count) {
    const batch = Math.min(HANDSHAKES_AT_ONCE, count - sockets.length);
    const opened = Array.from({ length: batch }, (_, index) => open(sockets.length + index));
    sockets.push(...(await Promise.all(opened)));
  }
  return sockets;
}

export function dropAll(sockets: readonly { drop(): void }[]): void {
  for (const socket of sockets) socket.drop();
}

/** Size of the `response` frame with this reply, in bytes. */
export function responseBytes(content: string): number {
  return Buffer.byteLength(JSON.stringify({ event: 'response', data: { content } }));
}
