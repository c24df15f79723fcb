import { App, us_socket_local_port } from 'uWebSockets.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { webSocketBehavior } from '../../../src/adapters/uws/web-socket-behavior.ts';
import { errorResponse } from '../../../src/gateway/http/error-response.ts';
import type { Admission, SocketFront } from '../../../src/ports/web-server.ts';

/** What is left of the memory of an HTTP response when it has become a socket. */
const LEFT_BYTES = 72;
/** In the place of the response's state, it says that the connection is to be closed. */
const CLOSE_BIT = 0x10;

let app: ReturnType<typeof App>;
let port: number;
let told: string[];
let kept: Buffer[];

const admission: Admission = {
  open: (socket) => {
    // Takes the memory that uWebSockets.js has just freed.
    kept = Array.from({ length: 20 }, () => Buffer.alloc(LEFT_BYTES, CLOSE_BIT));
    socket.send('hello');
    return {
      receive: (text) => told.push(`received ${text}`),
      drained: () => undefined,
      closed: () => told.push('closed'),
    };
  },
  release: () => undefined,
};

async function listen(admit: SocketFront['admit']): Promise<void> {
  const front = { admit, drain: () => undefined, end: () => undefined };
  app = App().ws('/*', webSocketBehavior({ front, http: { refuse: errorResponse } }, 1024));
  port = await new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(socket === false ? 0 : us_socket_local_port(socket)));
  });
}

/** Opens a socket, waits for its first frame, answers, and closes it. Resolves with the frame, and with the close code. */
function greeted(): Promise<{ frame: string | null; code: number }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  let frame: string | null = null;
  socket.addEventListener('message', ({ data }) => {
    frame = String(data);
    socket.send('hi');
    socket.close(1000);
  });
  return new Promise((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve({ frame, code }));
  });
}

beforeEach(() => {
  told = [];
  kept = [];
});
afterEach(() => {
  app.close();
});

describe('a handshake that is admitted', () => {
  it.each([
    ['at once', () => admission],
    ['by a promise', async () => admission],
    ['after some time', () => new Promise<Admission>((resolve) => setImmediate(() => resolve(admission)))],
  ])('%s opens a socket that stays open, whatever is allocated then', async (_, admit) => {
    await listen(admit);
    expect(await greeted()).toEqual({ frame: 'hello', code: 1000 });
    expect(kept).toHaveLength(20);
    await expect.poll(() => told).toEqual(['received hi', 'closed']);
  });
});
