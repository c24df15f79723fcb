import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { memorySnapshotStore } from '../../../src/adapters/memory/memory-snapshot-store.ts';
import { prometheusMetrics } from '../../../src/adapters/prometheus/prometheus-metrics.ts';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { composeAgent } from '../../../src/app/compose.ts';
import { tracesUrl } from '../../../src/app/tracing/traces-url.ts';
import { AgentConfig } from '../../../src/config/schema/agent-config.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import { ANYONE, inTrace } from '../../../src/core/request/request-context.ts';
import { type TraceContext, traceContextOf } from '../../../src/core/trace.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { SignalRecord } from '../../support/sockets/signal-record.ts';
import { RecordedTraces, traceparentOf } from '../../support/telemetry/recorded-traces.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const PARENT = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' };
const CONTENT = 'the-secret-words';

/** The agent with model and tools of the test's, and its spans in memory. */
async function start(store: EventStore = memoryEventStore()) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ echo: {} });
  const traces = new RecordedTraces();
  const config = AgentConfig.parse({
    llm: { provider: 'mistral', model: 'm-1' },
    mcpServers: { tools: { type: 'stdio', command: 'none' } },
  });
  const schemas = {
    issueWith: async () => undefined,
    ofServer: async () => ({}),
    ofResult: async () => ({}),
    ofClient: async () => ({}),
  };
  const { tracing } = traces;
  const snapshots = memorySnapshotStore();
  const agent = await composeAgent({
    config,
    raw: {},
    agentVersion: 'abc',
    log: recordingLog(),
    adapters: {
      store,
      snapshots,
      model,
      connector: tools,
      schemas,
      secrets: sealedBox(memoryKeys()),
      metrics: prometheusMetrics(),
      tracing,
    },
  });
  const heard = new SignalRecord(agent.bus, 's');
  const say = (turnId: string, trace?: TraceContext) =>
    agent.bus.send('turn.start', { sessionId: 's', turnId, text: CONTENT }, inTrace(ANYONE, trace));
  const stop = async () => {
    await agent.drain(0);
    await agent.close();
  };
  return { agent, model, tools, traces, heard, say, stop, [Symbol.asyncDispose]: stop };
}

describe('the spans of a turn', () => {
  it('are the turn, its model calls and their tool calls, with the attributes of the conventions', async () => {
    await using running = await start();
    const { model, tools, traces, heard, say } = running;
    await say('t1', PARENT);
    const asking = await model.call(0);
    asking.askFor({ name: 'echo', arguments: { message: CONTENT }, callId: 'c1' });
    const toolCall = await tools.call(0);
    toolCall.answer(CONTENT);
    (await model.call(1)).answerWithUsage({ inputTokens: 20, outputTokens: 4 }, CONTENT);
    await heard.event('turn.completed');

    const turn = traces.span('invoke_agent agent-service');
    const [first, second] = traces.spans.filter(({ name }) => name === 'chat m-1');
    const tool = traces.span('execute_tool echo');
    const ids = { 'gen_ai.conversation.id': 's', 'agent.turn.id': 't1' };
    const llm = { 'gen_ai.provider.name': 'mistral_ai', 'gen_ai.request.model': 'm-1' };
    expect(turn.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(turn.spanContext().traceState?.serialize()).toBe('a=1');
    expect(turn.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
    expect(turn.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'agent-service',
      'agent.turn.attempt': 1,
      'agent.turn.outcome': 'completed',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 4,
      ...ids,
      ...llm,
    });
    expect(first?.kind).toBe(SpanKind.CLIENT);
    expect(first?.parentSpanContext?.spanId).toBe(turn.spanContext().spanId);
    expect(first?.attributes).toEqual({ 'gen_ai.operation.name': 'chat', 'agent.step': 1, ...ids, ...llm });
    expect(second?.attributes).toMatchObject({ 'agent.step': 2, 'gen_ai.usage.input_tokens': 20 });
    expect(tool.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
    expect(tool.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo',
      'gen_ai.tool.call.id': expect.stringContaining('c1'),
      'mcp.method.name': 'tools/call',
      'agent.mcp_server.name': 'tools',
      'network.transport': 'pipe',
      ...ids,
    });
    for (const span of traces.spans) expect(span.status.code).toBe(SpanStatusCode.UNSET);
    // Model and tool are told where they stand in the trace.
    expect(asking.request.trace).toEqual({ traceparent: traceparentOf(first ?? turn), tracestate: 'a=1' });
    expect(toolCall.trace).toEqual({ traceparent: traceparentOf(tool), tracestate: 'a=1' });
  });

  it('never hold what was said, by whomever, nor what a tool says of its failure', async () => {
    await using running = await start();
    const { model, tools, traces, heard, say } = running;
    await say('t1');
    (await model.call(0)).askFor({ name: 'echo', arguments: { message: CONTENT } });
    const content = [{ type: 'text', text: CONTENT }];
    (await tools.call(0)).settle({ status: 'failed', reason: CONTENT, result: { content } });
    (await model.call(1)).answer(CONTENT);
    await heard.event('turn.completed');
    const tool = traces.span('execute_tool echo');
    expect(tool.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(tool.attributes['error.type']).toBe('tool_error');
    expect(traces.spans).toHaveLength(4);
    for (const { name, attributes, events, status } of traces.spans)
      expect(JSON.stringify({ name, attributes, events, status })).not.toContain(CONTENT);
  });

  it('say why a turn failed', async () => {
    await using running = await start();
    const { model, traces, heard, say } = running;
    await say('t1');
    (await model.call(0)).fail(new ServiceError('AGENT_ERROR', 'No.', { reason: 'the provider is down' }));
    await heard.event('turn.failed');
    for (const name of ['chat m-1', 'invoke_agent agent-service']) {
      const { status, attributes } = traces.span(name);
      expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'the provider is down' });
      expect(attributes['error.type']).toBe('AGENT_ERROR');
    }
  });

  it('tell a cancelled turn from a failed one', async () => {
    await using running = await start();
    const { agent, model, traces, say } = running;
    await say('t1');
    const call = await model.call(0);
    await agent.bus.send('turn.cancel', { sessionId: 's', reason: CONTENT }, ANYONE);
    await call.aborted;
    await eventually(
      async () => traces.spans.length,
      (count) => count === 2,
    );
    expect(traces.span('chat m-1').attributes['agent.step.outcome']).toBe('cancelled');
    expect(traces.span('invoke_agent agent-service').attributes['agent.turn.outcome']).toBe('cancelled');
    for (const span of traces.spans) expect(span.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('begin a trace of their own where the message came with none, and wait for their turn', async () => {
    await using running = await start();
    const { model, traces, heard, say } = running;
    await say('t1');
    await say('t2', PARENT);
    (await model.call(0)).answer('a');
    (await model.call(1)).answer('b');
    await heard.event('turn.completed', 't2');
    const turns = traces.spans.filter(({ name }) => name === 'invoke_agent agent-service');
    expect(turns.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      undefined,
      '00f067aa0ba902b7',
    ]);
  });

  it('are two for a turn that was resumed: one that was interrupted, and one with the next attempt', async () => {
    const store = memoryEventStore();
    const first = await start(keptOpen(store));
    await first.say('t1');
    await first.model.call(0);
    await first.stop();
    const interrupted = first.traces.span('invoke_agent agent-service');
    expect(interrupted.attributes).toMatchObject({
      'agent.turn.attempt': 1,
      'agent.turn.outcome': 'interrupted',
    });

    await using second = await start(store);
    (await second.model.call(0)).answer('done');
    await second.heard.event('turn.completed');
    const resumed = second.traces.span('invoke_agent agent-service');
    expect(resumed.attributes).toMatchObject({
      'agent.turn.id': 't1',
      'agent.turn.attempt': 2,
      'agent.turn.outcome': 'completed',
    });
    expect(second.traces.span('chat m-1').parentSpanContext?.spanId).toBe(resumed.spanContext().spanId);
  });

  it('belong to the traces of their messages also after a restart, whether the turn had begun or waited', async () => {
    const store = memoryEventStore();
    const first = await start(keptOpen(store));
    await first.say('t1', PARENT);
    await first.model.call(0);
    await first.say('t2', PARENT);
    await first.stop();
    await using second = await start(store);
    (await second.model.call(0)).answer('a');
    (await second.model.call(1)).answer('b');
    await second.heard.event('turn.completed', 't2');
    const turns = second.traces.spans.filter(({ name }) => name === 'invoke_agent agent-service');
    expect(turns.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
      '00f067aa0ba902b7',
      '00f067aa0ba902b7',
    ]);
  });

  it('are not recorded where the caller decided so', async () => {
    await using running = await start();
    const { model, traces, heard, say } = running;
    await say('t1', { traceparent: PARENT.traceparent.replace(/01$/, '00') });
    const call = await model.call(0);
    expect(call.request.trace?.traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-00$/);
    call.answer('x');
    await heard.event('turn.completed');
    expect(traces.spans).toEqual([]);
  });
});

describe('a tool that a client executes', () => {
  it('is a span in the trace of the request', async () => {
    await using running = await start();
    const { agent, tools, traces } = running;
    await eventually(
      () => agent.bus.send('mcp-server.list', {}, ANYONE),
      ([server]) => server?.status === 'connected',
    );
    const request = { serverId: 'tools', toolName: 'echo', arguments: {} };
    const answer = agent.bus.send('tool.execute', request, inTrace(ANYONE, PARENT));
    (await tools.call(0)).settle({ status: 'failed', reason: 'the server is gone' });
    await expect(answer).rejects.toThrow('failed');
    const span = traces.span('execute_tool echo');
    expect(span.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
    expect(span.attributes['error.type']).toBe('call_failed');
  });
});

describe('a trace context', () => {
  const [version, traceId, spanId] = PARENT.traceparent.split('-');
  it.each([
    ['of version ff', `ff-${traceId}-${spanId}-01`],
    ['without a trace', `${version}-${'0'.repeat(32)}-${spanId}-01`],
    ['without a span', `${version}-${traceId}-${'0'.repeat(16)}-01`],
    ['in capitals', PARENT.traceparent.toUpperCase()],
    ['that is cut', PARENT.traceparent.slice(0, -1)],
    ['that holds another header', `${PARENT.traceparent}\r\nx: y`],
    ['that is no text', 7],
  ])('%s is as if it were not there', (_, traceparent) => {
    expect(traceContextOf({ traceparent })).toBeUndefined();
  });

  it('is kept without a state that is malformed', () => {
    expect(traceContextOf(PARENT)).toEqual(PARENT);
    expect(traceContextOf({ ...PARENT, tracestate: 'a\nb' })).toEqual({ traceparent: PARENT.traceparent });
  });
});

describe('where spans are sent to', () => {
  it('is nowhere unless somebody says so, and the most exact of what is said wins', () => {
    const inFile = { otlpEndpoint: 'http://file:4318/' };
    const root = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://root:4318' };
    const exact = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://exact/x' };
    expect(tracesUrl({}, {})).toBeUndefined();
    expect(tracesUrl({}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined();
    expect(tracesUrl(inFile, {})).toBe('http://file:4318/v1/traces');
    expect(tracesUrl(inFile, root)).toBe('http://root:4318/v1/traces');
    expect(tracesUrl(inFile, { ...root, ...exact })).toBe('http://exact/x');
    expect(tracesUrl(inFile, { ...exact, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  });

  it('is refused by the name of its variable when it is no URL', () => {
    expect(() => tracesUrl({}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' })).toThrow(
      /^OTEL_EXPORTER_OTLP_ENDPOINT: found no http/,
    );
  });
});
