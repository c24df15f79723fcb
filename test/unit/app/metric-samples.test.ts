import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { prometheusMetrics } from '../../../src/adapters/prometheus/prometheus-metrics.ts';
import { MAX_SAMPLES, MetricRing, SAMPLE_INTERVAL_MS } from '../../../src/app/metrics/metric-ring.ts';
import { SampledMetrics } from '../../../src/app/metrics/sampled-metrics.ts';
import type { MetricSamples } from '../../../src/core/metric-samples.ts';
import { silentLog } from '../../support/service/running-service.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const START = Date.parse('2026-11-22T12:00:00.000Z');

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

function rig() {
  const metrics = new SampledMetrics(prometheusMetrics());
  const ring = new MetricRing(metrics, silentLog);
  return { metrics, ring };
}

function values({ series }: MetricSamples, name: string, statistic = 'value') {
  return series.find((one) => one.name === name && one.statistic === statistic)?.values;
}

describe('the samples of the metrics', () => {
  it('are taken every ten seconds from the start, and end with the present', async () => {
    const { metrics, ring } = rig();
    let sessions = 1;
    metrics.read('agent_sessions', () => [{ labels: {}, value: sessions }]);
    ring.start();
    await vi.advanceTimersByTimeAsync(SAMPLE_INTERVAL_MS - 1);
    sessions = 2;
    await vi.advanceTimersByTimeAsync(1);
    sessions = 3;
    await vi.advanceTimersByTimeAsync(4_000);
    const samples = await ring.since(0);
    ring[Symbol.dispose]();
    expect(samples).toMatchObject({ intervalMs: 10_000, last: 2 });
    expect(samples.times).toEqual([
      '2026-11-22T12:00:00.000Z',
      '2026-11-22T12:00:10.000Z',
      '2026-11-22T12:00:14.000Z',
    ]);
    expect(values(samples, 'agent_sessions')).toEqual([1, 2, 3]);
  });

  it('after a sample are the later ones; after one that is not yet taken, all', async () => {
    const { metrics, ring } = rig();
    let sessions = 0;
    metrics.read('agent_sessions', () => {
      sessions += 1;
      return [{ labels: {}, value: sessions }];
    });
    for (let taken = 0; taken < 4; taken += 1) await ring.sample();
    expect(values(await ring.since(2), 'agent_sessions')).toEqual([3, 4, 5]);
    expect(values(await ring.since(4), 'agent_sessions')).toEqual([6]);
    expect(values(await ring.since(99), 'agent_sessions')).toEqual([1, 2, 3, 4, 7]);
  });

  it('go back one hour, and no further', async () => {
    const { ring } = rig();
    ring.start();
    await vi.advanceTimersByTimeAsync(2 * 60 * 60_000);
    const { times, last } = await ring.since(0);
    ring[Symbol.dispose]();
    expect(last).toBe(721);
    expect(times.length).toBe(MAX_SAMPLES + 1);
    expect(times[0]).toBe('2026-11-22T13:00:10.000Z');
    // The timer has ended with the ring.
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await ring.since(0)).last).toBe(721);
  });

  it('have the mean and the 99th percentile of what a histogram observed in the interval', async () => {
    const { metrics, ring } = rig();
    const append = (...seconds: number[]) => {
      for (const one of seconds) metrics.observe('agent_append_duration_seconds', {}, one);
    };
    append(0.0002, 0.0004);
    await ring.sample();
    await ring.sample();
    append(9);
    const samples = await ring.since(0);
    expect(values(samples, 'agent_append_duration_seconds', 'mean')).toEqual([0.0003, null, 9]);
    expect(values(samples, 'agent_append_duration_seconds', 'p99')).toEqual([0.0005, null, 1]);
  });

  it('have null where a series did not exist yet', async () => {
    const { metrics, ring } = rig();
    await ring.sample();
    metrics.read('agent_sessions', () => [{ labels: {}, value: 5 }]);
    await ring.sample();
    expect(values(await ring.since(0), 'agent_sessions')).toEqual([null, 5, 5]);
  });

  it('go on after one that could not be taken, which the log tells', async () => {
    const log = recordingLog();
    const metrics = new SampledMetrics(prometheusMetrics());
    const ring = new MetricRing(metrics, log);
    let broken = true;
    metrics.read('agent_sessions', () => {
      if (broken) throw new Error('no number');
      return [{ labels: {}, value: 1 }];
    });
    await ring.sample();
    broken = false;
    await ring.sample();
    expect((await ring.since(0)).last).toBe(1);
    expect(log.lines.map(({ message }) => message)).toEqual(['the metrics could not be sampled']);
  });
});
