import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { MetricSamplesResponse } from '../../../src/wire/responses.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { UpstreamService } from '../../support/service/upstream-service.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const SECRET = 'tool-secret-8d1f';

function start(more: object = {}, dataDir = ':memory:'): Promise<RunningService> {
  const script = [
    { when: '^big', reply: 'x'.repeat(2_000_000), chunks: 1 },
    { when: '.*', reply: 'hello there' },
  ];
  const llm = { provider: 'scripted', model: 'offline', script };
  const tools = scriptableServer({ env: { SECRET_TOKEN: SECRET } });
  return RunningService.start({ yaml: JSON.stringify({ llm, mcpServers: { tools }, ...more }), dataDir });
}

/** The metrics as soon as they are as wanted. */
function valuesWhen(
  service: RunningService,
  wanted: (values: MetricValues) => boolean,
): Promise<MetricValues> {
  return eventually(() => MetricValues.at(service.url), wanted);
}

/** A connection that is kept. */
class OpenConnection implements Disposable {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async to(port: number): Promise<OpenConnection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new OpenConnection(socket);
  }

  /** The whole answer, which has to come in one piece. */
  async get(path: string): Promise<string> {
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const [answer]: unknown[] = await once(this.#socket, 'data');
    return String(answer);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

describe('readiness', () => {
  verifies('ops.ready', async () => {
    await using directory = await tempDirectory();
    await using service = await start({}, directory.path);
    const response = await service.fetch('/readyz');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ready', timestamp: expect.any(String) });
  });

  verifies('ops.ready', 'the log cannot be written', async () => {
    const store = new WatchedStore(memoryEventStore());
    store.beforeProbe = () => Promise.reject(new Error('disk full at /private/path'));
    const log = recordingLog();
    await using service = await RunningService.start({ adapters: { store }, log });
    const response = await service.fetch('/readyz');
    expect(response.headers.get('Retry-After')).toBe('5');
    const error = await errorOf(response, 503);
    expect(error).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { reason: 'the event log cannot be written; the log of the service has the cause' },
    });
    expect(JSON.stringify(error)).not.toContain('/private/path');
    expect(String(log.lines.find(({ level }) => level === 'error')?.fields.err)).toContain('/private/path');
    expect((await service.fetch('/healthz')).status).toBe(200);
  });

  verifies('ops.ready', 'the service is stopping', async () => {
    await using running = await UpstreamService.open({}, { server: { drainTimeoutMs: 30_000 } });
    const { service, upstream } = running;
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [{ text: 'x' }, { gate: gate.promise }, { finish: 'stop' }, { done: true }],
    });
    const answer = service.post('/api/message-sync', { message: 'hello' });
    await upstream.request(0);
    // A connection that is open already: while the service stops it takes no new one.
    using probe = await OpenConnection.to(service.port);
    const closing = service.close();
    expect(await probe.get('/readyz')).toMatch(/^HTTP\/1\.1 503 .*"reason":"the service is stopping"/s);
    gate.resolve();
    expect((await answer).status).toBe(200);
    await closing;
  });
});

describe('metrics', () => {
  verifies('ops.metrics', async () => {
    await using directory = await tempDirectory();
    await using service = await start({ limits: { requestsPerMinute: 4 } }, directory.path);
    await valuesWhen(service, (values) => values.value('agent_mcp_servers{status=connected}') === 1);
    await toolText(service, 'tools', 'pid');
    using socket = await service.connect();
    socket.say('hello');
    await socket.settled();
    const stream = await service.fetch('/api/sessions/default/events', {
      headers: { Accept: 'text/event-stream' },
    });
    const statecharts = await service.fetch('/api/statecharts', { headers: { Accept: 'text/event-stream' } });
    await using mcp = await mcpClient(service);
    await mcp.sdk.ping();
    for (let request = 0; request < 10; request += 1) await service.fetch('/api/health');

    const values = await MetricValues.at(service.url);
    const expected = {
      'agent_turns_total{outcome=completed}': 1,
      agent_steps_total: 1,
      agent_chunks_total: 2,
      'agent_sockets{kind=websocket}': 1,
      'agent_sockets{kind=event_stream}': 1,
      'agent_sockets{kind=statecharts}': 1,
      agent_mcp_sessions: 1,
      agent_sessions: 1,
      agent_turns_running: 0,
      agent_messages_waiting: 0,
      'agent_mcp_servers{status=connected}': 1,
      'agent_mcp_servers{status=error}': 0,
      'agent_tool_call_duration_seconds_count{server=tools,outcome=succeeded}': 1,
      agent_model_first_text_seconds_count: 1,
      'agent_model_call_duration_seconds_count{outcome=completed}': 1,
      'agent_rate_limited_total{limit=messages}': 0,
    };
    const shown = Object.fromEntries(Object.keys(expected).map((series) => [series, values.value(series)]));
    expect(shown).toEqual(expected);
    expect(values.value('agent_rate_limited_total{limit=requests}')).toBe(9);
    expect(values.value('agent_append_duration_seconds_count')).toBeGreaterThanOrEqual(1);
    expect(values.value('agent_sync_duration_seconds_count')).toBeGreaterThanOrEqual(1);
    expect(values.value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(values.series.filter((series) => series.includes('default'))).toEqual([]);
    await Promise.all([stream.body?.cancel(), statecharts.body?.cancel()]);
    await valuesWhen(service, (left) => left.value('agent_sockets{kind=statecharts}') === 0);

    const text = await service.fetch('/metrics');
    expect(text.headers.get('Content-Type')).toContain('text/plain; version=0.0.4');
    const body = await text.text();
    expect(body).toContain('\nagent_turns_total{outcome="completed"} 1\n');
    expect(body).not.toContain(SECRET);
  });

  verifies('ops.log-size', async () => {
    await using folder = await tempDirectory();
    await using service = await start({}, folder.path);
    const Health = z.object({ log: z.object({ bytes: z.int(), events: z.int() }) });
    const health = async () => Health.parse(await (await service.fetch('/api/health')).json()).log;
    const before = await health();
    await service.post('/api/message-sync', { message: 'hello' });
    const after = await health();
    const values = await MetricValues.at(service.url);
    const bytes = ['database', 'wal'].map((file) => values.value(`agent_log_bytes{file=${file}}`) ?? 0);
    const files = ['events.db', 'events.db-wal'].map((file) => statSync(join(folder.path, file)).size);
    expect(bytes).toEqual(files);
    expect(after.bytes).toBe(files.reduce((sum, size) => sum + size));
    expect(after.bytes).toBeGreaterThan(before.bytes);
    expect(values.value('agent_log_events')).toBe(after.events);
    const events = await service.fetch('/api/sessions/default/events');
    const { head } = z.object({ head: z.int() }).parse(await events.json());
    expect(after.events - before.events).toBe(head);
    expect(await (await service.fetch('/healthz')).json()).not.toHaveProperty('log');
  });

  verifies('ops.log-size', 'and everything else is reported when the log does not answer', async () => {
    const store = new WatchedStore(memoryEventStore());
    store.size = () => Promise.reject(new Error('EIO'));
    await using service = await RunningService.start({ adapters: { store } });
    expect(await (await service.fetch('/api/health')).json()).not.toHaveProperty('log');
    const values = await MetricValues.at(service.url);
    expect(values.value('agent_log_events')).toBeUndefined();
    expect(values.value('agent_sessions')).toBe(0);
  });

  verifies('ops.samples', async () => {
    await using service = await start({ limits: { requestsPerMinute: 2 } });
    const samples = async (after: number) =>
      MetricSamplesResponse.parse(await (await service.fetch(`/metrics/samples?after=${after}`)).json());
    // The first sample is taken at the start, so a page that is opened at once has a line to draw.
    const first = await samples(0);
    expect([first.last, first.times.length]).toEqual([1, 2]);
    await service.post('/api/message-sync', { message: 'hello' });
    const present = (await samples(first.last)).series;
    const value = (name: string, labels = {}) =>
      present.find((series) => series.name === name && isDeepStrictEqual(series.labels, labels))?.values;
    expect(value('agent_turns_total', { outcome: 'completed' })).toEqual([1]);
    expect(value('agent_turns_running')).toEqual([0]);
    expect(value('agent_append_duration_seconds')).toEqual([expect.any(Number)]);
    expect(value('process_resident_memory_bytes')?.[0]).toBeGreaterThan(1_000_000);
    expect(value('agent_http_requests_total', { status: '2xx' })?.[0]).toBeGreaterThanOrEqual(2);
    for (let more = 0; more < 5; more += 1) await samples(0);
    expect((await service.fetch('/metrics/samples?after=x')).status).toBe(400);
  });

  verifies('ops.metrics', 'the queue', async () => {
    await using running = await UpstreamService.open();
    const { service, upstream } = running;
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [{ text: 'x' }, { gate: gate.promise }, { finish: 'stop' }, { done: true }],
    });
    for (const message of ['one', 'two', 'three']) await service.post('/api/message', { message });
    const busy = await MetricValues.at(service.url);
    expect(busy.value('agent_turns_running')).toBe(1);
    expect(busy.value('agent_messages_waiting')).toBe(2);
    gate.resolve();
  });

  verifies('ops.metrics', 'event streams, and not the requests that wait for a whole answer', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ adapters: { model } });
    const open = (values: MetricValues) => values.value('agent_sockets{kind=event_stream}');
    const asked = { model: 'default', input: 'hello' };
    const waiting = [
      service.post('/api/message-sync', { message: 'hello', sessionId: 'a' }),
      service.post('/v1/responses', asked),
    ];
    const calls = await Promise.all([model.call(0), model.call(1)]);
    expect(open(await MetricValues.at(service.url))).toBe(0);
    const stream = await service.post('/v1/responses', { ...asked, stream: true });
    expect(open(await MetricValues.at(service.url))).toBe(1);
    for (const call of [...calls, await model.call(2)]) call.answer('hello there');
    await stream.text();
    for (const answer of waiting) expect((await answer).status).toBe(200);
    await valuesWhen(service, (values) => open(values) === 0);
  });

  verifies('ops.metrics', 'a client that does not read', async () => {
    await using service = await start({ limits: { messagesPerMinute: false, requestsPerMinute: false } });
    using slow = await RawWebSocket.open(service.port);
    const say = () => service.post('/api/message-sync', { message: 'big' });
    while ((await MetricValues.at(service.url)).value('agent_sockets_behind') === 0) await say();
    const behind = await MetricValues.at(service.url);
    expect(behind.value('agent_socket_buffered_bytes')).toBeGreaterThan(0);
    expect(behind.value('agent_slow_readers_closed_total')).toBe(0);
    for (let turn = 0; turn < 8; turn += 1) await say();
    const after = await valuesWhen(service, (values) => values.value('agent_sockets_behind') === 0);
    expect(after.value('agent_slow_readers_closed_total')).toBe(1);
    expect(after.value('agent_sockets{kind=websocket}')).toBe(0);
    // The service has ended the connection, so there is an end to read to.
    expect((await slow.readToEnd()).texts.length).toBeGreaterThan(0);
  });

  verifies('ops.unlimited', async () => {
    await using service = await start({ limits: { requestsPerMinute: 2 } });
    await using mcpOnly = await RunningService.start({ mode: 'mcp' });
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      for (let probe = 0; probe < 5; probe += 1) {
        const response = await service.fetch(path);
        expect([path, response.status]).toEqual([path, 200]);
        expect(response.headers.has('X-RateLimit-Limit')).toBe(false);
        await response.text();
      }
      expect([path, (await mcpOnly.fetch(path)).status]).toEqual([path, 200]);
    }
    expect((await service.fetch('/api/health')).headers.get('X-RateLimit-Remaining')).toBe('1');
  });
});
