import type { Subject } from '../../../bench/support/contenders.ts';
import { localUrl } from '../../../bench/support/http-load.ts';
import { WebSocketClient } from '../../../bench/support/websocket-client.ts';

/** All frames of one turn, as they came. */
export async function framesOf({ server }: Subject, session: string): Promise<string[]> {
  const socket = await WebSocketClient.open(localUrl(server.port), `/?session=${session}`);
  const frames: string[] = [];
  const ended = Promise.withResolvers<void>();
  socket.onClose = () => ended.reject(new Error('the socket was closed'));
  socket.onFrame = (bytes, start, end) => {
    const frame = bytes.toString('utf8', start, end);
    frames.push(frame);
    if (/^\{"event":"(response|error)"/.test(frame)) ended.resolve();
  };
  socket.send(JSON.stringify({ type: 'message', content: 'stream' }));
  await ended.promise.finally(() => socket.drop());
  return frames;
}

/** Those of a turn whose reply comes in these pieces. */
export function framesWith(pieces: readonly string[]): string[] {
  return [
    JSON.stringify({ event: 'thinking', data: { message: 'The agent is working on a reply.' } }),
    ...pieces.map((content) => JSON.stringify({ event: 'chunk', data: { content } })),
    JSON.stringify({ event: 'response', data: { content: pieces.join('') } }),
  ];
}
