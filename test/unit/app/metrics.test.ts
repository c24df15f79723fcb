import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import perfHooks from 'node:perf_hooks';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { DeferredMetrics } from '../../../src/adapters/prometheus/deferred-metrics.ts';
import { prometheusMetrics } from '../../../src/adapters/prometheus/prometheus-metrics.ts';
import { showCluster, showHeldSignals } from '../../../src/app/metrics/cluster-metrics.ts';
import { measuredModel } from '../../../src/app/metrics/measured-model.ts';
import { measuredStore } from '../../../src/app/metrics/measured-store.ts';
import { measuredTools } from '../../../src/app/metrics/measured-tools.ts';
import { showProcess } from '../../../src/app/metrics/process-metrics.ts';
import { countSignals } from '../../../src/app/metrics/session-metrics.ts';
import { metricDeclarations } from '../../../src/core/metric-catalogue.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { ReplyRecord } from '../../support/models/replies.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');

describe('the metrics of one service', () => {
  it('are not those of another in the same process', async () => {
    const [one, other] = [prometheusMetrics(), prometheusMetrics()];
    one.add('agent_steps_total', {});
    expect((await MetricValues.of(one)).value('agent_steps_total')).toBe(1);
    expect((await MetricValues.of(other)).value('agent_steps_total')).toBe(0);
  });

  it('are read anew each time, also when many read at once', async () => {
    const metrics = prometheusMetrics();
    let sessions = 3;
    metrics.read('agent_sessions', async () => [{ labels: {}, value: sessions }]);
    const readers = Array.from({ length: 10 }, () => MetricValues.of(metrics));
    for (const values of await Promise.all(readers)) expect(values.value('agent_sessions')).toBe(3);
    sessions = 2;
    expect((await MetricValues.of(metrics)).value('agent_sessions')).toBe(2);
  });

  it('have no series for what cannot be read now', async () => {
    const metrics = prometheusMetrics();
    let readings = [{ labels: {}, value: 3 }];
    metrics.read('agent_sessions', () => readings);
    readings = [];
    expect((await MetricValues.of(metrics)).value('agent_sessions')).toBeUndefined();
    readings = [{ labels: {}, value: 4 }];
    expect((await MetricValues.of(metrics)).value('agent_sessions')).toBe(4);
  });

  it('are the same as text and as data', async () => {
    const metrics = prometheusMetrics();
    metrics.observe('agent_append_duration_seconds', {}, 0.002);
    const { contentType, body } = await metrics.text();
    expect(contentType).toContain('text/plain');
    expect(body).toContain('agent_append_duration_seconds_bucket{le="0.0025"} 1\n');
    const values = await MetricValues.of(metrics);
    expect(values.value('agent_append_duration_seconds_bucket{le=0.0025}')).toBe(1);
    expect(values.value('agent_append_duration_seconds_count')).toBe(1);
  });

  it('says how many appends wait, until they are stored or refused', async () => {
    const metrics = prometheusMetrics();
    const answers = [Promise.withResolvers<never[]>(), Promise.withResolvers<never[]>()];
    const pending = answers.values();
    const append = (): Promise<never[]> =>
      pending.next().value?.promise ?? Promise.reject(new Error('no more'));
    const store = measuredStore({ ...memoryEventStore(), append }, metrics);
    const waiting = async () => (await MetricValues.of(metrics)).value('agent_appends_waiting');
    expect(await waiting()).toBe(0);
    const appends = [store.append('s', 0, []), store.append('s', 0, [])];
    expect(await waiting()).toBe(2);
    answers[0]?.resolve([]);
    answers[1]?.reject(new Error('refused'));
    await Promise.allSettled(appends);
    expect(await waiting()).toBe(0);
  });

  it('says what is lost between the nodes of a cluster, and what is kept back', async () => {
    const metrics = prometheusMetrics();
    const cluster = { droppedMessages: 3, isCutOff: false, membership: { living: new Set(['this node']) } };
    showCluster(metrics, cluster);
    showHeldSignals(metrics, { heldSignals: 5 });
    const values = await MetricValues.of(metrics);
    expect(values.value('agent_cluster_nodes')).toBe(1);
    expect(values.value('agent_cluster_bus_up')).toBe(1);
    expect(values.value('agent_cluster_messages_dropped_total')).toBe(3);
    expect(values.value('agent_cluster_signals_held')).toBe(5);
    cluster.isCutOff = true;
    expect((await MetricValues.of(metrics)).value('agent_cluster_bus_up')).toBe(0);
  });
});

describe('metrics whose library is not loaded yet', () => {
  function deferred() {
    let loads = 0;
    const metrics = new DeferredMetrics(async () => {
      loads += 1;
      return prometheusMetrics();
    });
    return { metrics, loads: () => loads };
  }

  it('keep what is recorded until somebody reads, and lose nothing of it', async () => {
    const { metrics, loads } = deferred();
    metrics.read('agent_sessions', () => [{ labels: {}, value: 7 }]);
    metrics.observe('agent_append_duration_seconds', {}, 0.002);
    expect(loads()).toBe(0);
    const readers = [MetricValues.of(metrics), MetricValues.of(metrics)];
    metrics.observe('agent_append_duration_seconds', {}, 0.002);
    for (const values of await Promise.all(readers)) {
      expect(values.value('agent_sessions')).toBe(7);
      expect(values.value('agent_append_duration_seconds_count')).toBe(2);
    }
    metrics.add('agent_steps_total', {});
    expect((await MetricValues.of(metrics)).value('agent_steps_total')).toBe(1);
    expect(loads()).toBe(1);
  });

  it('do not keep more than a bound: then the library is loaded', async () => {
    const { metrics, loads } = deferred();
    for (let append = 0; append < 5_000; append += 1)
      metrics.observe('agent_append_duration_seconds', {}, 0.002);
    expect(loads()).toBe(1);
    expect((await MetricValues.of(metrics)).value('agent_append_duration_seconds_count')).toBe(5_000);
  });
});

describe('metrics whose library could not be loaded', () => {
  it('are there for a later reader, with no more recordings than the bound', async () => {
    let isThere = false;
    let loads = 0;
    const metrics = new DeferredMetrics(async () => {
      loads += 1;
      if (!isThere) throw new Error('too many open files');
      return prometheusMetrics();
    });
    await expect(metrics.text()).rejects.toThrow('too many open files');
    for (let append = 0; append < 5_000; append += 1)
      metrics.observe('agent_append_duration_seconds', {}, 0.002);
    expect(loads).toBe(2);
    await nextLoop();
    isThere = true;
    expect((await MetricValues.of(metrics)).value('agent_append_duration_seconds_count')).toBe(2_000);
    expect(loads).toBe(3);
  });
});

describe('the metrics of the process', () => {
  it('are those of the catalogue, and the defaults of prom-client', async () => {
    const metrics = prometheusMetrics();
    const stop = showProcess(metrics, '1.2.3');
    const { user, system } = process.cpuUsage();
    const families = await metrics.families();
    stop();
    const names = families.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining([...metricDeclarations.keys()]));
    expect(names).toEqual(
      expect.arrayContaining(['nodejs_gc_duration_seconds', 'nodejs_heap_size_used_bytes']),
    );
    const values = new MetricValues(families);
    expect(values.value('agent_build_info{version=1.2.3}')).toBe(1);
    expect(values.value('process_cpu_seconds_total')).toBeGreaterThanOrEqual((user + system) / 1e6);
    expect(values.value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(values.value('process_uptime_seconds')).toBeGreaterThan(0);
    const startedAt = Date.now() / 1_000 - process.uptime();
    expect(Math.abs((values.value('process_start_time_seconds') ?? 0) - startedAt)).toBeLessThan(2);
    // In prom-client a metric of this name is the data segment of the process, which is far larger.
    const { heapTotal } = process.memoryUsage();
    expect(values.value('process_heap_bytes')).toBeLessThanOrEqual(heapTotal);
    expect(await metrics.text()).toMatchObject({ body: expect.stringContaining('\nnodejs_version_info{') });
  });

  it('cost nothing before somebody reads them, even when the library is loaded', async () => {
    const monitors = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
    let loads = 0;
    const metrics = new DeferredMetrics(async () => {
      loads += 1;
      return prometheusMetrics();
    });
    metrics.addDefaults();
    for (let append = 0; append < 5_000; append += 1)
      metrics.observe('agent_append_duration_seconds', {}, 0.002);
    await nextLoop();
    expect(loads).toBe(1);
    expect(monitors).not.toHaveBeenCalled();
    await metrics.text();
    await metrics.families();
    expect(monitors).toHaveBeenCalledTimes(1);
    monitors.mockRestore();
  });
});

describe('what is measured', () => {
  it('of sessions: turns by outcome, steps, tokens and chunks, of all sessions together', async () => {
    const rig = new SessionRig();
    const metrics = prometheusMetrics();
    countSignals(rig.bus, metrics);
    const heard = [rig.listen('a'), rig.listen('b')];
    await rig.say('one', { sessionId: 'a' });
    await rig.say('two', { sessionId: 'b' });
    const usage = { inputTokens: 10, outputTokens: 3, cachedTokens: 4, reasoningTokens: 2 };
    (await rig.model.callFor('one')).answerWithUsage(usage, 'x', 'y', 'z');
    await heard[0]?.event('turn.completed');
    (await rig.model.callFor('two')).fail(new Error('broken'));
    await heard[1]?.event('turn.failed');
    // A tool server that asks the agent's model spends tokens, too.
    const call = { turnId: 'one', callId: 'c', toolName: 't', serverId: 's' };
    const sampled = { inputTokens: 100, outputTokens: 50 };
    const event = { type: 'sampling.completed', ...call, source: null, usage: sampled } as const;
    rig.bus.publish({ sessionId: 'a', seq: 9, time: 0, event, meta: null });
    const values = await MetricValues.of(metrics);
    expect(values.value('agent_turns_total{outcome=completed}')).toBe(1);
    expect(values.value('agent_turns_total{outcome=failed}')).toBe(1);
    expect(values.value('agent_turns_total{outcome=cancelled}')).toBe(0);
    expect(values.value('agent_steps_total')).toBe(1);
    expect(values.value('agent_tokens_total{direction=input}')).toBe(110);
    expect(values.value('agent_tokens_total{direction=output}')).toBe(53);
    expect(values.value('agent_tokens_total{direction=cached}')).toBe(4);
    expect(values.value('agent_tokens_total{direction=reasoning}')).toBe(2);
    expect(values.value('agent_chunks_total')).toBe(3);
  });

  it('of the log: each append that became durable', async () => {
    const metrics = prometheusMetrics();
    await using store = measuredStore(memoryEventStore(), metrics);
    await store.append('s', 0, [{ type: 'turn.started', turnId: 't' }]);
    await expect(store.append('s', 0, [])).rejects.toThrow('at seq 1');
    expect((await MetricValues.of(metrics)).value('agent_append_duration_seconds_count')).toBe(1);
  });

  it('of the model: the first text, and how calls end', async () => {
    const metrics = prometheusMetrics();
    const directed = new DirectedModel();
    const model = measuredModel(directed, metrics);
    const heard = new ReplyRecord();
    const abort = new AbortController();
    const request = { systemPrompt: '', messages: [], tools: [] };
    const call = (signal = new AbortController().signal) => model.generate(request, heard, signal);
    const calls = [call(), call(), call(abort.signal)];
    directed.calls[0]?.answer('a', 'b');
    directed.calls[1]?.fail(new Error('broken'));
    abort.abort();
    await Promise.allSettled(calls);
    expect(heard.pieces).toEqual(['a', 'b']);
    const values = await MetricValues.of(metrics);
    expect(values.value('agent_model_first_text_seconds_count')).toBe(1);
    for (const outcome of ['completed', 'failed', 'cancelled'])
      expect(values.value(`agent_model_call_duration_seconds_count{outcome=${outcome}}`)).toBe(1);
  });

  it('of tool calls: each server by name, and no more than a hundred names', async () => {
    const metrics = prometheusMetrics();
    const tools = new DirectedTools({ echo: {} }, (call) => call.answer('ok'));
    const connector = measuredTools(tools, metrics);
    const events = { onClosed: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined };
    const config = { type: 'stdio', command: 'none' } as const;
    for (let index = 0; index < 105; index += 1) {
      const connection = await connector.connect(`s${index}`, config, events, new AbortController().signal);
      await connection.callTool('echo', {});
    }
    const values = await MetricValues.of(metrics);
    const count = (server: string) =>
      values.value(`agent_tool_call_duration_seconds_count{server=${server},outcome=succeeded}`);
    expect(count('s0')).toBe(1);
    expect(count('s99')).toBe(1);
    expect(count('s100')).toBeUndefined();
    expect(count('other')).toBe(5);
  });

  it('of tool calls that are passed on: each by how it ended', async () => {
    const metrics = prometheusMetrics();
    const answers = [{ resultType: 'input_required' }, { content: [] }, { content: [], isError: true }];
    const double = connectionDouble({
      listTools: async () => [],
      callTool: () => Promise.reject(),
      close: async () => undefined,
      request: async ({ method }) => (method === 'tools/call' ? answers.shift() : {}) ?? Promise.reject(),
    });
    const connector = measuredTools({ connect: async () => double }, metrics);
    const events = { onClosed: () => undefined, onToolsChanged: () => undefined, onNote: () => undefined };
    const config = { type: 'stdio', command: 'none' } as const;
    const connection = await connector.connect('s', config, events, new AbortController().signal);
    const call = (method: string) =>
      connection.request({ method, params: { name: 'pay' } }).catch(() => null);
    for (const method of [...Array(4).fill('tools/call'), 'tools/list']) await call(method);
    const values = await MetricValues.of(metrics);
    const count = (outcome: string) =>
      values.value(`agent_tool_call_duration_seconds_count{server=s,outcome=${outcome}}`);
    expect([count('succeeded'), count('failed')]).toEqual([1, 2]);
  });
});

describe('who listens to all sessions', () => {
  it('hears each signal, until it leaves, and disturbs nobody when it fails', () => {
    const failures: string[] = [];
    const bus = new LocalBus((error, { sessionId }) => failures.push(`${sessionId}: ${error}`));
    const heard: string[] = [];
    bus.onEverySession(() => {
      throw new Error('bad listener');
    });
    const leave = bus.onEverySession(({ sessionId }) => heard.push(sessionId));
    const say = (sessionId: string) =>
      bus.publish({ type: 'reply.chunk', sessionId, turnId: 't', step: 1, offset: 0, content: 'x' });
    say('a');
    say('b');
    leave();
    say('c');
    expect(heard).toEqual(['a', 'b']);
    expect(failures).toEqual(['a: Error: bad listener', 'b: Error: bad listener', 'c: Error: bad listener']);
  });
});

describe('what is said about the metrics', () => {
  it('in docs/operations.md is what there is', () => {
    const rows = [
      ...read('docs/operations.md').matchAll(
        /^\| `((?:agent|process)_[a-z_]+)`(?: \(`([a-z_`, ]+)`\))? \| (.+) \|$/gm,
      ),
    ];
    const documented = rows.map(([, name, labels, help]) => [name, labels?.split('`, `') ?? [], help]);
    const declared = [...metricDeclarations].map(([name, { labels, help }]) => [name, labels ?? [], help]);
    expect(documented).toEqual(declared);
  });

  it('in the dashboard asks only for metrics that there are, with labels that they have', () => {
    const Dashboard = z.object({
      panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).optional() })),
    });
    const { panels } = Dashboard.parse(JSON.parse(read('ops/grafana-dashboard.json')));
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(10);
    for (const query of queries) {
      const names = query.match(/\b(?:agent|process|nodejs)_\w+/g) ?? [];
      expect(names, query).not.toEqual([]);
      for (const name of names) expect(declarationOf(name), `${name} in ${query}`).toBeDefined();
      const allowed = names.flatMap((name) => [
        ...(declarationOf(name)?.labels ?? []),
        'le',
        'instance',
        'job',
      ]);
      const used = [...query.matchAll(/(?:by|without) \(([^)]*)\)|\{([^}]*)\}/g)].flatMap(
        ([, by, selector]) =>
          (by ?? selector ?? '').split(',').map((part) => part.split(/[=!~]/)[0]?.trim() ?? ''),
      );
      for (const label of used.filter((name) => name !== '')) expect(allowed, query).toContain(label);
    }
  });

  it('in the dashboard names each curve after the labels that split it', () => {
    const Dashboard = z.object({
      panels: z.array(
        z.object({ targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional() }),
      ),
    });
    const { panels } = Dashboard.parse(JSON.parse(read('ops/grafana-dashboard.json')));
    const split = panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        legendFormat,
        labels: (/\bby \(([^)]*)\)/.exec(expr)?.[1] ?? '')
          .split(/,\s*/)
          .filter((label) => !['', 'le'].includes(label)),
      })),
    );
    expect(split.filter(({ labels }) => labels.length > 0).length).toBeGreaterThan(10);
    for (const { labels, legendFormat } of split)
      for (const label of labels) expect(legendFormat).toContain(`{{${label}}}`);
  });
});

function declarationOf(name: string) {
  const known = metricDeclarations.get(name);
  const base = /^(.*)_(?:bucket|sum|count)$/.exec(name)?.[1];
  const histogram = base === undefined ? undefined : metricDeclarations.get(base);
  return known ?? (histogram?.type === 'histogram' ? histogram : undefined);
}
