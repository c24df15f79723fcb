import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchInTrace } from '../../../src/adapters/mcp/http/http-fetch.ts';

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

const NODES_DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const nodes: Dispatcher = Reflect.get(globalThis, NODES_DISPATCHER);

beforeEach(() => {
  const hasty = nodes.compose(
    (dispatch) => (options, handler) =>
      dispatch({ headersTimeout: 50, bodyTimeout: 50, ...options }, handler),
  );
  Reflect.set(globalThis, NODES_DISPATCHER, hasty);
});

afterEach(() => void Reflect.set(globalThis, NODES_DISPATCHER, nodes));

/** Answers when it is told to. Sends the head of an answer at once, if it is asked for at `/head`. */
async function lateServer() {
  const gate = Promise.withResolvers<void>();
  const server = createServer(async ({ url }, response) => {
    if (url === '/head') response.writeHead(200).flushHeaders();
    await gate.promise;
    response.end('late');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  const url = `http://127.0.0.1:${address.port}`;
  return { url, answer: () => gate.resolve(), [Symbol.asyncDispose]: close };
}

test.each(['/', '/head'])(
  'a server that says nothing for longer than Node waits is heard to the end: %s',
  async (path) => {
    await using server = await lateServer();
    const url = `${server.url}${path}`;
    const textOf = async (response: Promise<Response>) => await (await response).text();
    const patient = textOf(fetchInTrace(url));
    // It begins later, so the one before it would have been given up already.
    await expect(textOf(fetch(url))).rejects.toMatchObject({
      cause: { code: path === '/' ? 'UND_ERR_HEADERS_TIMEOUT' : 'UND_ERR_BODY_TIMEOUT' },
    });
    server.answer();
    expect(await patient).toBe('late');
  },
);
