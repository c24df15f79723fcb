import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchInTrace } from '../../../src/adapters/mcp/http/http-fetch.ts';
import { lateServer } from '../../support/tools/mcp/http-servers.ts';

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

test.each(['/', '/head'])(
  'a server that says nothing for longer than Node waits is heard to the end: %s',
  async (path) => {
    const gate = Promise.withResolvers<void>();
    await using server = await lateServer(gate.promise);
    const url = `${server.url}${path}`;
    const textOf = async (response: Promise<Response>) => await (await response).text();
    const patient = textOf(fetchInTrace(url));
    // It begins later, so the one before it would have been given up already.
    await expect(textOf(fetch(url))).rejects.toMatchObject({
      cause: { code: path === '/' ? 'UND_ERR_HEADERS_TIMEOUT' : 'UND_ERR_BODY_TIMEOUT' },
    });
    gate.resolve();
    expect(await patient).toBe('late');
  },
);
