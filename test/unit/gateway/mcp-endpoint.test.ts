import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { ANYONE, contextOf, type RequestContext } from '../../../src/core/request/request-context.ts';
import type { ServedRequest } from '../../../src/gateway/http/http-message.ts';
import { McpEndpoint } from '../../../src/gateway/mcp/mcp-endpoint.ts';
import { HEARTBEAT_MS } from '../../../src/gateway/sse/event-stream.ts';
import { SignalFanOut } from '../../../src/gateway/stream/signal-fan-out.ts';
import type { Peers } from '../../../src/ports/peers.ts';
import type { HttpResponse } from '../../../src/ports/web-server.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { identity } from '../../support/access/known-tokens.ts';
import { FakeBroadcast } from '../../support/sockets/fake-broadcast.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { INITIALIZE } from '../../support/tools/mcp-http.ts';

const HALF_AN_HOUR_MS = 30 * 60_000;
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

function request(method: string, message: unknown, sessionId?: string): ServedRequest {
  const headers = new Map([
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
    ...(sessionId === undefined ? [] : [['mcp-session-id', sessionId] as const]),
  ]);
  const bytes = new TextEncoder().encode(message === undefined ? '' : JSON.stringify(message));
  const body = async () => bytes;
  return { method, path: '/mcp', query: '', headers, peerAddress: '127.0.0.1', body, context: ANYONE };
}

/** A request of the newer era. */
function modern(method: string, params: { readonly name?: string } & Record<string, unknown>): ServedRequest {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw client', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const asked = request('POST', { jsonrpc: '2.0', id: 3, method, params: { ...params, _meta } });
  const headers = new Map([
    ...asked.headers,
    ...([['mcp-protocol-version', '2026-07-28']] as const),
    ...([['mcp-method', method]] as const),
    ...(params.name === undefined ? [] : [['mcp-name', params.name] as const]),
  ]);
  return { ...asked, headers };
}

/** Reads a stream up to what the pattern matches, and leaves it. */
async function readUpTo({ body, onOver }: HttpResponse, pattern: RegExp): Promise<string> {
  if (!(body instanceof ReadableStream)) throw new Error('not a stream');
  const reader = body.getReader();
  let text = '';
  while (!pattern.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream has ended: ${text}`);
    text += Buffer.from(value).toString();
  }
  await reader.cancel('the client went away');
  onOver?.();
  return text;
}

/** Reads a response to its end, and says so, as the web server does. */
async function readAll({ body, onOver }: HttpResponse): Promise<void> {
  if (body instanceof ReadableStream) await new Response(body).text();
  onOver?.();
}

/** @returns how its client goes away. */
function holdStream({ status, body, onOver }: HttpResponse): () => Promise<void> {
  expect(status).toBe(200);
  if (!(body instanceof ReadableStream)) throw new Error('not a stream');
  const reader = body.getReader();
  return async () => {
    await reader.cancel('the client went away');
    onOver?.();
  };
}

describe('the MCP endpoint', () => {
  let deps: ConstructorParameters<typeof McpEndpoint>[0];
  let endpoint: McpEndpoint;
  let bus: LocalBus;

  beforeEach(() => {
    vi.useFakeTimers();
    bus = new LocalBus((error) => expect.unreachable(String(error)));
    deps = {
      bus,
      fanOut: new SignalFanOut(bus, new FakeBroadcast()),
      maxRequestBytes: false,
      authenticator: {},
      exposes: new Set(['agent']),
      card: () => ({ name: 'a', version: '1', model: 'none' }),
      secrets: sealedBox(memoryKeys(undefined)),
      log: recordingLog(),
    };
    endpoint = new McpEndpoint(deps);
  });

  afterEach(() => {
    endpoint[Symbol.dispose]();
    vi.useRealTimers();
  });

  async function initialize(context = ANYONE): Promise<string> {
    const response = await endpoint.handle({ ...request('POST', INITIALIZE), context });
    await readAll(response);
    return response.headers['mcp-session-id'] ?? '';
  }

  async function pingStatus(sessionId: string, context = ANYONE): Promise<number> {
    const response = await endpoint.handle({ ...request('POST', PING, sessionId), context });
    await readAll(response);
    return response.status;
  }

  it('knows a session for the one who opened it alone', async () => {
    const sessionId = await initialize();
    const other = request('POST', PING, sessionId);
    const response = await endpoint.handle({ ...other, context: { ...other.context, principal: 'eve' } });
    await readAll(response);
    expect(response.status).toBe(404);
    expect(await pingStatus(sessionId)).toBe(200);
  });

  it('refuses an initialize that is too long to be kept, and no other request', async () => {
    const params = {
      ...INITIALIZE.params,
      capabilities: { experimental: { x: { text: 'x'.repeat(262_144) } } },
    };
    const refused = await endpoint.handle(request('POST', { ...INITIALIZE, params }));
    expect(refused).toMatchObject({
      status: 400,
      body: expect.stringContaining('must not exceed 262144 characters'),
    });
    expect(endpoint.sessions).toBe(0);
    const ping = request('POST', { ...PING, params: { text: 'x'.repeat(262_144) } }, await initialize());
    expect((await endpoint.handle(ping)).status).toBe(200);
  });

  it('forgets a session that was silent for half an hour, and keeps one that was not', async () => {
    const silent = await initialize();
    const active = await initialize();
    const accepted = await endpoint.handle(
      request('POST', { jsonrpc: '2.0', method: 'notifications/initialized' }, silent),
    );
    expect(accepted.status).toBe(202);
    await readAll(accepted);
    vi.advanceTimersByTime(HALF_AN_HOUR_MS / 2);
    expect(await pingStatus(active)).toBe(200);
    vi.advanceTimersByTime(HALF_AN_HOUR_MS / 2 + 60_000);
    expect(await pingStatus(silent)).toBe(404);
    expect(await pingStatus(active)).toBe(200);
  });

  it('keeps a silent session as long as it holds a stream open, also when another was given up', async () => {
    const sessionId = await initialize();
    const lose = holdStream(await endpoint.handle(request('GET', undefined, sessionId)));
    await lose();
    const leave = holdStream(await endpoint.handle(request('GET', undefined, sessionId)));
    vi.advanceTimersByTime(2 * HALF_AN_HOUR_MS);
    expect(await pingStatus(sessionId)).toBe(200);
    await leave();
    vi.advanceTimersByTime(HALF_AN_HOUR_MS + 60_000);
    expect(await pingStatus(sessionId)).toBe(404);
  });

  it('cancels no turn when it forgets the session of a client that is away', async () => {
    const started = Promise.withResolvers<void>();
    bus.handle('turn.start', () => {
      started.resolve();
      return new Promise(() => undefined);
    });
    const cancelled = vi.fn();
    bus.handle('turn.cancel', cancelled);
    const sessionId = await initialize();
    const params = { name: 'chat_with_agent', arguments: { message: 'take your time' } };
    const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params };
    const lose = holdStream(await endpoint.handle(request('POST', call, sessionId)));
    await started.promise;
    await lose();
    vi.advanceTimersByTime(HALF_AN_HOUR_MS + 60_000);
    expect(await pingStatus(sessionId)).toBe(404);
    expect(cancelled).not.toHaveBeenCalled();
  });

  it('keeps the silent streams of the older era alive, and no timer of one that is over', async () => {
    const started = Promise.withResolvers<void>();
    bus.handle('turn.start', () => {
      started.resolve();
      return new Promise(() => undefined);
    });
    const sessionId = await initialize();
    const timers = vi.getTimerCount();
    const params = { name: 'chat_with_agent', arguments: { message: 'take your time' } };
    const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params };
    const streams = [
      await endpoint.handle(request('GET', undefined, sessionId)),
      await endpoint.handle(request('POST', call, sessionId)),
    ];
    await started.promise;
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
    for (const stream of streams) await readUpTo(stream, /^:/m);
    expect(vi.getTimerCount()).toBe(timers);
  });

  it('keeps the silent streams of the newer era alive, and no timer of one that is over', async () => {
    const started = Promise.withResolvers<void>();
    bus.handle('turn.start', () => {
      started.resolve();
      return new Promise(() => undefined);
    });
    bus.handle('turn.cancel', async () => true);
    const listen = { notifications: { resourceSubscriptions: ['agent://card'] } };
    const chat = { name: 'chat_with_agent', arguments: { message: 'take your time' } };
    const timers = vi.getTimerCount();
    const streams = [
      await endpoint.handle(modern('subscriptions/listen', listen)),
      await endpoint.handle(modern('tools/call', chat)),
    ];
    await started.promise;
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
    for (const stream of streams) await readUpTo(stream, /^:/m);
    expect(vi.getTimerCount()).toBe(timers);
  });

  it('begins a stream for an answer of the newer era that takes longer than a proxy waits', async () => {
    let asked = Promise.withResolvers<void>();
    let done = Promise.withResolvers<undefined>();
    bus.handle('session.reset', () => {
      asked.resolve();
      return done.promise;
    });
    const reset = modern('tools/call', { name: 'reset_conversation', arguments: { sessionId: 's' } });
    const timers = vi.getTimerCount();
    const soon = endpoint.handle(reset);
    await asked.promise;
    done.resolve(undefined);
    const { body, headers } = await soon;
    expect([headers['content-type'], typeof body]).toEqual(['application/json', 'string']);
    expect(vi.getTimerCount()).toBe(timers);
    asked = Promise.withResolvers();
    done = Promise.withResolvers();
    const late = endpoint.handle(reset);
    await asked.promise;
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
    const stream = await late;
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS);
    done.resolve(undefined);
    const text = await readUpTo(stream, /^data: .*\n\n/m);
    expect(text).toMatch(/^:\n\nevent: message\ndata: \{.*"id":3/);
    expect(text).toContain('The conversation was reset.');
    expect(vi.getTimerCount()).toBe(timers);
  });

  it('has one session for all requests of a client that has begun it at another node', async () => {
    const peers: Peers = {
      clusterId: 'c',
      tell: () => undefined,
      onTold: () => undefined,
      askAll: async () => [],
      onAsked: () => undefined,
    };
    using here = new McpEndpoint({ ...deps, peers });
    using elsewhere = new McpEndpoint({ ...deps, peers });
    let turn = Promise.withResolvers<string>();
    let cancelled = Promise.withResolvers<unknown>();
    bus.handle('turn.start', ({ turnId }) => {
      turn.resolve(turnId);
      return new Promise(() => undefined);
    });
    bus.handle('turn.cancel', async ({ turnId }) => {
      cancelled.resolve(turnId);
      return true;
    });
    const params = { name: 'chat_with_agent', arguments: { message: 'take your time' } };
    const call = { jsonrpc: '2.0', id: 3, method: 'tools/call', params };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    // The second request may come at any moment of what the first one does to make the session.
    for (let ticks = 0; ticks < 15; ticks += 1) {
      turn = Promise.withResolvers();
      cancelled = Promise.withResolvers();
      const begun = await elsewhere.handle(request('POST', INITIALIZE));
      await readAll(begun);
      const sessionId = begun.headers['mcp-session-id'];
      const chatting = here.handle(request('POST', call, sessionId));
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      await readAll(await here.handle(request('POST', PING, sessionId)));
      const turnId = await turn.promise;
      await readAll(await here.handle(request('POST', cancel, sessionId)));
      expect(await cancelled.promise).toBe(turnId);
      await readAll(await chatting);
    }
    expect(here.sessions).toBe(15);
  });

  it('refuses the cursor of a page that there is not, in both eras', async () => {
    const sessionId = await initialize();
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list']) {
      const asked = { jsonrpc: '2.0', id: 3, method, params: { cursor: 'bogus' } };
      const older = await endpoint.handle(request('POST', asked, sessionId));
      expect(await readUpTo(older, /\n\n/)).toContain('"code":-32602');
      const { body } = await endpoint.handle(modern(method, { cursor: 'bogus' }));
      expect(body).toContain('"code":-32602');
      expect((await endpoint.handle(modern(method, {}))).body).toContain('"result"');
    }
  });

  it('does not take a request that fails for one in use for ever', async () => {
    const sessionId = await initialize();
    const broken = request('POST', PING, sessionId);
    const headers = new Map([...broken.headers, ['accept', 'application/json\u2603']]);
    await expect(endpoint.handle({ ...broken, headers })).rejects.toThrow();
    vi.advanceTimersByTime(HALF_AN_HOUR_MS + 60_000);
    expect(await pingStatus(sessionId)).toBe(404);
  });

  it('lets a principal replace its own sessions only, and none in use', async () => {
    const context = contextOf(identity('ada'));
    const other = await initialize(contextOf(identity('bob')));
    const own = await Promise.all(Array.from({ length: 100 }, () => initialize(context)));
    const [first = '', second = ''] = own;
    vi.advanceTimersByTime(1);
    const stays = holdStream(await endpoint.handle({ ...request('GET', undefined, first), context }));
    const oneMore = await initialize(context);
    expect(await pingStatus(second, context)).toBe(404);
    for (const sessionId of [first, oneMore]) expect(await pingStatus(sessionId, context)).toBe(200);
    expect(await pingStatus(other, contextOf(identity('bob')))).toBe(200);
    const streams = [...own.slice(2), oneMore].map(async (sessionId) =>
      holdStream(await endpoint.handle({ ...request('GET', undefined, sessionId), context })),
    );
    const held = await Promise.all(streams);
    await expect(initialize(context)).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 100, name: 'mcpSessions', of: 'principal' },
    });
    for (const leave of [stays, ...held]) await leave();
  });

  it('lets a tenant replace its own sessions only', async () => {
    const member = (name: string) => contextOf(identity(name));
    const others = contextOf(identity('eve', { tenant: 'other' }));
    const other = await initialize(others);
    vi.advanceTimersByTime(1);
    const oldest = await initialize(member('p0'));
    vi.advanceTimersByTime(1);
    for (let index = 1; index < 900; index += 1) await initialize(member(`p${index % 10}`));
    expect(await pingStatus(oldest, member('p0'))).toBe(200);
    vi.advanceTimersByTime(1);
    const before = endpoint.sessions;
    await initialize(member('new'));
    expect([before, endpoint.sessions]).toEqual([901, 901]);
    expect(await pingStatus(other, others)).toBe(200);
  });

  it('refuses the subscriptions of a tenant beyond its share', async () => {
    const listen = (context: RequestContext) =>
      endpoint.handle({ ...modern('subscriptions/listen', { notifications: {} }), context });
    const open = await Promise.all(
      Array.from({ length: 900 }, (_, index) => listen(contextOf(identity(`p${index % 10}`)))),
    );
    await expect(listen(contextOf(identity('new')))).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 900, name: 'mcpSubscriptions', of: 'tenant' },
    });
    open.push(await listen(contextOf(identity('eve', { tenant: 'other' }))));
    for (const response of open) await holdStream(response)();
  });

  it('has no more sessions if many clients begin theirs at once', async () => {
    await Promise.all(Array.from({ length: 990 }, () => initialize()));
    vi.advanceTimersByTime(1);
    await Promise.all(Array.from({ length: 50 }, () => initialize()));
    expect(endpoint.sessions).toBe(1_000);
  });

  it('makes no room for a request that begins no session', async () => {
    const context = contextOf(identity('ada'));
    await Promise.all(Array.from({ length: 100 }, () => initialize(context)));
    const requests = [request('GET', undefined), request('DELETE', undefined), request('POST', PING)];
    for (const refused of [...requests, request('POST', { no: 'message' })]) {
      const response = await endpoint.handle({ ...refused, context });
      await readAll(response);
      expect(response.status).toBe(400);
    }
    expect(endpoint.sessions).toBe(100);
  });

  it('keeps no place for a session that was not initialized', async () => {
    const context = contextOf(identity('ada'));
    const broken = { ...INITIALIZE, params: {} };
    for (let index = 0; index < 101; index += 1)
      await readAll(await endpoint.handle({ ...request('POST', broken), context }));
    expect(endpoint.sessions).toBe(0);
    expect(await pingStatus(await initialize(context), context)).toBe(200);
  });

  it('makes room by forgetting the session that is idle for longest, and none in use', async () => {
    const inUse = await initialize();
    const leave = holdStream(await endpoint.handle(request('GET', undefined, inUse)));
    vi.advanceTimersByTime(1);
    const oldest = await initialize();
    vi.advanceTimersByTime(1);
    const others = await Promise.all(Array.from({ length: 998 }, () => initialize()));
    const oneMore = await initialize();
    expect(await pingStatus(oldest)).toBe(404);
    for (const sessionId of [inUse, oneMore, others[0] ?? '']) expect(await pingStatus(sessionId)).toBe(200);
    await leave();
  });
});
