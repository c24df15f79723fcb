import { localUrl } from './http-load.ts';
import { WebSocketClient } from './websocket-client.ts';

/** What a socket has received of one turn. */
export interface TurnReceipt {
  /** From the message to the first chunk. */
  readonly firstChunkMs: number;
  readonly totalMs: number;
  readonly chunkFrames: number;
  readonly responseBytes: number;
}

/** `{"event":"chunk"` and the like: what tells the frames apart stands here. */
const EVENT_AT = '{"event":"'.length;
const code = { chunk: 'c'.charCodeAt(0), response: 'r'.charCodeAt(0), error: 'e'.charCodeAt(0) };

/** Says something, or null to say nothing, and hears the turn to its end. One at a time on each socket. */
export function oneTurn(
  socket: WebSocketClient,
  content: string | null,
  onFirstChunk: () => void = () => undefined,
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
        if (chunkFrames === 1) {
          firstAt = performance.now();
          onFirstChunk();
        }
      } else if (kind === code.response) {
        const totalMs = performance.now() - sent;
        resolve({ firstChunkMs: firstAt - sent, totalMs, chunkFrames, responseBytes: end - start });
      } else if (kind === code.error) reject(new Error(bytes.toString('utf8', start, end)));
    };
    if (content !== null) socket.send(JSON.stringify({ type: 'message', content }));
  });
}

/** Some at a time: a thousand handshakes at once would overflow the queue of the port. */
const HANDSHAKES_AT_ONCE = 100;

/** Sockets, each of a session as the function says. */
export async function openSockets(
  port: number,
  count: number,
  sessionOf: (index: number) => string,
): Promise<WebSocketClient[]> {
  const sockets: WebSocketClient[] = [];
  while (sockets.length < count) {
    const batch = Math.min(HANDSHAKES_AT_ONCE, count - sockets.length);
    const opened = Array.from({ length: batch }, (_, index) =>
      WebSocketClient.open(localUrl(port), `/?session=${sessionOf(sockets.length + index)}`),
    );
    sockets.push(...(await Promise.all(opened)));
  }
  return sockets;
}

export function dropAll(sockets: readonly WebSocketClient[]): void {
  for (const socket of sockets) socket.drop();
}

/** The bytes of the frame that ends a turn with this reply. */
export function responseBytes(content: string): number {
  return Buffer.byteLength(JSON.stringify({ event: 'response', data: { content } }));
}
