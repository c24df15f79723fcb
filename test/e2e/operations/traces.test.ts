import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { OpenAiUpstream, textReply, toolCallReply } from '../../support/models/openai-upstream.ts';
import { SOURCES } from '../../support/project/describe-ways.ts';
import { eventually } from '../../support/project/eventually.ts';
import { freePort, RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { RawWebSocket } from '../../support/sockets/raw-websocket.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { OtlpReceiver, type ReceivedSpan } from '../../support/telemetry/otlp-receiver.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
const CONTENT = 'the-secret-words';
const TURN = 'invoke_agent agent-service';

const traceparentOf = ({ traceId, spanId }: ReceivedSpan): string => `00-${traceId}-${spanId}-01`;

function tracing(collector: OtlpReceiver, yaml = SCRIPTED): Promise<RunningService> {
  return RunningService.start({ yaml, environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
}

describe('traces', () => {
  verifies('ops.traces', async () => {
    await using collector = await OtlpReceiver.listen();
    await using service = await RunningService.start({
      yaml: `${SCRIPTED}telemetry: { otlpEndpoint: "${collector.url}" }\n`,
    });
    const asked = await service.post('/api/message-sync', { message: CONTENT, sessionId: 'mine' });
    expect(asked.status).toBe(200);
    await service.close();

    expect(new Set(collector.paths)).toEqual(new Set(['/v1/traces']));
    expect(collector.resource).toMatchObject({
      'service.name': 'agent-service',
      'service.version': readPackageVersion(),
    });
    const turn = collector.span(TURN);
    expect(turn.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 'mine',
      'agent.turn.outcome': 'completed',
    });
    expect(turn.parentSpanId ?? '').toBe('');
    const chat = collector.span('chat offline');
    expect([chat.traceId, chat.parentSpanId]).toEqual([turn.traceId, turn.spanId]);
    expect(collector.bodies.join('')).not.toContain(CONTENT);
  });

  verifies('ops.traces-out', async () => {
    await using collector = await OtlpReceiver.listen();
    await using upstream = await OpenAiUpstream.listen();
    await using remote = await streamableServer();
    const llm = { provider: 'openai-compatible', model: 'm', baseURL: upstream.baseURL };
    const mcpServers = { near: scriptableServer(), far: { type: 'http', baseUrl: remote.url } };
    await using service = await tracing(collector, JSON.stringify({ llm, mcpServers }));
    await eventually(
      () => MetricValues.at(service.url),
      (values) => values.value('agent_mcp_servers{status=connected}') === 2,
    );
    upstream.replyWith(
      toolCallReply([
        { id: 'c1', name: 'near__meta', arguments: {} },
        { id: 'c2', name: 'far__meta', arguments: {} },
      ]),
      textReply('done'),
    );
    const headers = { traceparent };
    expect((await service.post('/api/message-sync', { message: 'hello' }, headers)).status).toBe(200);
    const shown = await toolText(service, 'near', 'meta');
    await service.close();

    const chats = collector.spans.filter(({ name }) => name === 'chat m');
    const [first, second] = [await upstream.request(0), await upstream.request(1)];
    expect([first.headers.traceparent, second.headers.traceparent]).toEqual(chats.map(traceparentOf));
    expect(first.headers.traceparent).toContain(TRACE_ID);
    const calls = collector.spans.filter(({ name }) => name === 'execute_tool meta');
    const callTo = (server: string) =>
      calls.filter(({ attributes }) => attributes['agent.mcp_server.name'] === server).map(traceparentOf);
    // What the tools were told came back to the model as their results.
    const results = JSON.stringify(second.body.messages);
    const [near = '', byHand = ''] = callTo('near');
    const [far = ''] = callTo('far');
    expect(results).toContain(near);
    expect(results).toContain(far);
    expect(shown).toContain(byHand);
    expect(remote.requests.map(({ headers: { traceparent: sent } }) => sent)).toContain(far);
    for (const call of calls.slice(0, 2))
      expect([call.traceId, call.parentSpanId]).toEqual([TRACE_ID, chats[0]?.spanId]);
  });

  verifies('ops.traces-in', async () => {
    await using collector = await OtlpReceiver.listen();
    await using service = await tracing(collector);
    const post = (path: string, value: string) =>
      service.post(path, { message: 'hello', sessionId: path.replaceAll('/', '-') }, { traceparent: value });
    await post('/api/message-sync', traceparent);
    await post('/api/message', traceparent);
    using socket = await RawWebSocket.open(service.port, '/?session=ws', { traceparent });
    await socket.send(JSON.stringify({ type: 'message', content: 'hello' }));
    await socket.readUntil('"response"');
    await using mcp = await mcpClient(service);
    const params = {
      name: 'chat_with_agent',
      arguments: { message: 'hello', sessionId: 'mcp' },
      _meta: { traceparent },
    };
    await mcp.sdk.callTool(params);
    const malformed = await post('/api/message-sync', `${traceparent}zz`);
    expect(malformed.status).toBe(200);
    await service.close();

    const turns = collector.spans.filter(({ name }) => name === TURN);
    const part = (span: ReceivedSpan): boolean => span.traceId === TRACE_ID && span.parentSpanId === SPAN_ID;
    const sessions = turns.filter(part).map(({ attributes }) => attributes['gen_ai.conversation.id']);
    expect(sessions.toSorted()).toEqual(['-api-message', '-api-message-sync', 'mcp', 'ws']);
    expect(turns.filter((span) => !part(span))).toHaveLength(1);
  });

  verifies('ops.traces-off', async () => {
    await using collector = await OtlpReceiver.listen();
    const sdk = /@opentelemetry\/(sdk-trace|exporter-|otlp-|resources)|adapters\/opentelemetry/;
    const without = await filesLoadedBy({});
    expect(without.filter((file) => sdk.test(file))).toEqual([]);
    // Nor what only a terminal, or a reader of metrics, has a use for.
    expect(without.filter((file) => /pino-pretty|prom-client/.test(file))).toEqual([]);
    // The same look finds them where there is a collector.
    const loaded = await filesLoadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    expect(loaded.filter((file) => sdk.test(file))).not.toEqual([]);
  });

  verifies('ops.traces-lost', async () => {
    const log = recordingLog();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` };
    await using service = await RunningService.start({ log, environment });
    expect((await service.post('/api/message-sync', { message: 'hello' })).status).toBe(200);
    const begun = performance.now();
    await service.close();
    expect(performance.now() - begun).toBeLessThan(5_000);
    const warnings = log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message).join()).toContain('are lost');
  });
});

/** What a service loads until it has answered a message and was stopped; Node writes it down as coverage. */
async function filesLoadedBy(environment: Record<string, string>): Promise<string[]> {
  await using directory = await tempDirectory();
  const coverage = { NODE_V8_COVERAGE: directory.path };
  await using service = await ServiceProcess.listening(['--data-dir', ':memory:'], {
    script: SOURCES,
    environment: { ...environment, ...coverage },
  });
  expect((await service.post('/api/message-sync', { message: 'hello' })).status).toBe(200);
  service.process.kill('SIGTERM');
  const { code, stderr } = await service.process.ended;
  expect(code).toBe(0);
  // No terminal reads the log.
  const lines = stderr.trim().split('\n');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
  const reports = (await readdir(directory.path)).filter((name) => name.startsWith('coverage-'));
  const texts = await Promise.all(reports.map((name) => readFile(join(directory.path, name), 'utf8')));
  const loaded = texts.flatMap((report) =>
    [...report.matchAll(/"url":"(file:[^"]+)"/g)].map(([, url = '']) => url),
  );
  expect(loaded.some((url) => url.endsWith('src/app/compose.ts'))).toBe(true);
  return loaded;
}
