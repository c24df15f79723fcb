import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { wholeAnswer } from '../../../bench/support/http-connection.ts';
import { loadHttp } from '../../../bench/support/http-load.ts';
import { streamTurns } from '../../../bench/support/streamed-turns.ts';
import type { TurnSocket } from '../../../bench/support/turns.ts';

/* The benches count what arrived, not what was sent. */
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serverOf(status: number): Promise<number> {
  const server = createServer((_, res) => res.writeHead(status).end('done')).listen(0, '127.0.0.1');
  closers.push(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return address.port;
}

describe('the load over HTTP', () => {
  const load = (port: number) =>
    loadHttp({ port, inFlight: 2, total: 3, requestOf: () => ({ path: '/', body: '{}' }) });

  it('counts the answers', async () => {
    const { operations, latencies } = await load(await serverOf(200));
    expect({ operations, latencies: latencies?.length }).toEqual({ operations: 3, latencies: 3 });
  });

  it('rejects when an answer is another one', async () => {
    await expect(load(await serverOf(503))).rejects.toThrow('/ was answered with 503: done');
  });

  it.each([
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndo',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ndo\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n',
  ])('takes no part for an answer: %j', (received) => {
    expect(wholeAnswer(received)).toBeNull();
  });
});

describe('the load over WebSocket', () => {
  /** Answers a message with these frames. */
  function socketWith(frames: readonly object[]): TurnSocket {
    const socket: TurnSocket = {
      onFrame: () => undefined,
      onClose: () => undefined,
      send: () => {
        for (const frame of frames) {
          const bytes = Buffer.from(JSON.stringify(frame));
          socket.onFrame(bytes, 0, bytes.length);
        }
      },
    };
    return socket;
  }

  const chunk = (content: string) => ({ event: 'chunk', data: { content } });
  const response = (content: string) => ({ event: 'response', data: { content } });
  const streamed = { streams: 1, pieces: ['a', 'b', 'c'] };

  it('counts the frames that came, also when a server joins what it got as several', async () => {
    const joined = socketWith([chunk('ab'), chunk('c'), response('abc')]);
    const apart = socketWith([chunk('a'), chunk('b'), chunk('c'), response('abc')]);
    expect((await streamTurns([joined, apart], streamed)).operations).toBe(5);
  });

  it('rejects a reply of another length, and one that failed', async () => {
    const short = socketWith([chunk('a'), response('a')]);
    await expect(streamTurns([short], streamed)).rejects.toThrow('a response of 43 bytes came instead of 45');
    const failed = socketWith([{ event: 'error', data: { message: 'no' } }]);
    await expect(streamTurns([failed], streamed)).rejects.toThrow('"message":"no"');
  });
});
