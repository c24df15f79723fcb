import { App, us_socket_local_port } from 'uWebSockets.js';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpExchange } from '../../../src/adapters/uws/http-exchange.ts';
import { webSocketBehavior } from '../../../src/adapters/uws/web-socket-behavior.ts';
import { errorResponse } from '../../../src/gateway/http/error-response.ts';
import type { SocketFront } from '../../../src/ports/web-server.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';

const MEGABYTE = 1024 * 1024;
/** Four times what Linux takes for a client, so that the web server keeps the rest. */
const KEPT_BYTES = 16 * MEGABYTE;
/*
 * What the web server forgets to send waits for what is written next: here for ever, and elsewhere for a heartbeat or
 * a ping, so each test is bounded by its time-out alone. What it does not forget takes a moment.
 */
const TIMEOUT_MS = 180_000;

let app: ReturnType<typeof App>;
let port: number;

/** @param front of the WebSockets. @param stream what each GET is answered with, and no end. */
async function listen(front: SocketFront, stream: () => ReadableStream<Uint8Array>): Promise<void> {
  app = App();
  app.ws('/*', webSocketBehavior({ front, http: { refuse: errorResponse } }, MEGABYTE));
  app.get('/*', (res) => {
    const headers = { 'content-type': 'text/event-stream' };
    void new HttpExchange(res, 'GET').respond({ status: 200, headers, body: stream() });
  });
  port = await new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(socket === false ? 0 : us_socket_local_port(socket)));
  });
}

afterEach(() => {
  app.close();
});

describe('a stream whose client is not quick enough', { timeout: TIMEOUT_MS }, () => {
  const line = (name: string) => `data: ${name.repeat(KEPT_BYTES)}\n\n`;
  /** Chunks that are all there, and no end. */
  const open = (...chunks: string[]) =>
    listen(noSockets, () => ReadableStream.from(unended(chunks.map((chunk) => Buffer.from(chunk)))));

  async function read(bytes: number): Promise<string> {
    const request = get({ port, host: '127.0.0.1', agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    let text = '';
    for await (const piece of response?.setEncoding('latin1') ?? []) {
      text += piece;
      // Behind an event comments may follow.
      if (text.length >= bytes && /\n\n(:\n\n)*$/.test(text.slice(-100))) break;
    }
    return text;
  }

  it('is sent what is kept to its end, though nothing is written behind it', async () => {
    await open(line('a'));
    expect((await read(KEPT_BYTES)).replaceAll(':\n\n', '')).toBe(line('a'));
  });

  it('is sent one chunk after the other', async () => {
    await open(line('a'), line('b'), line('c'));
    expect((await read(3 * KEPT_BYTES)).replaceAll(':\n\n', '')).toBe(line('a') + line('b') + line('c'));
  });
});

describe('a WebSocket whose client is not quick enough', { timeout: TIMEOUT_MS }, () => {
  it('is sent to its end what is sent when it has drained', async () => {
    const names = ['b', 'c', 'd'];
    const front: SocketFront = {
      admit: () => ({
        open: (socket) => {
          socket.send('a'.repeat(KEPT_BYTES));
          const drained = () => {
            const name = socket.bufferedBytes() === 0 ? names.shift() : undefined;
            if (name !== undefined) socket.send(name.repeat(KEPT_BYTES));
          };
          return { receive: () => undefined, drained, closed: () => undefined };
        },
        release: () => undefined,
      }),
      drain: () => undefined,
      end: () => undefined,
    };
    await listen(front, () => new ReadableStream());
    using client = await RawWebSocket.open(port);
    const { texts } = await client.readUntil(`${'d'.repeat(64)}`);
    expect(texts.map((text) => text[0])).toEqual(['a', 'b', 'c']);
  });
});

const noSockets: SocketFront = {
  admit: () => ({ status: 404, headers: {}, body: null }),
  drain: () => undefined,
  end: () => undefined,
};

async function* unended(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
  await new Promise(() => undefined);
}
