import { LOAD_CPU } from './metric.ts';
import type { Sample } from './rounds.ts';
import type { ServerProcess } from './server-process.ts';
import { percentile } from './statistics.ts';

/** What was done while the server was measured. */
export interface Work {
  /** What arrived at the client, in whole frames or answers. */
  readonly operations: number;
  /** In milliseconds. */
  readonly latencies?: readonly number[];
  /** What the latencies measure. Absent when they are those of the operations. */
  readonly latencyOf?: string;
}

/**
 * Rate, CPU cost and latencies of some work. `load CPU %` is the CPU use of this process, the load generator. From 90
 * on it limits the rate, and only the CPU time of the server says what the server can do.
 */
export async function measured(
  server: Pick<ServerProcess, 'cpuMs' | 'rssMb'>,
  unit: string,
  work: () => Promise<Work>,
): Promise<Sample> {
  const serverCpu = server.cpuMs();
  const loadCpu = process.cpuUsage();
  const begun = performance.now();
  const { operations, latencies, latencyOf } = await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(loadCpu);
  return {
    [`${unit}s/s`]: (operations / ms) * 1_000,
    [`CPU µs/${unit}`]: ((server.cpuMs() - serverCpu) * 1_000) / operations,
    ...(latencies && latencyColumns(latencies, latencyOf)),
    'RSS MB': server.rssMb(),
    [LOAD_CPU]: ((user + system) / 1_000 / ms) * 100,
  };
}

export function latencyColumns(latencies: readonly number[], of?: string): Sample {
  const prefix = of === undefined ? '' : `${of} `;
  const ascending = latencies.toSorted((a, b) => a - b);
  return {
    [`${prefix}p50 ms`]: percentile(ascending, 0.5),
    [`${prefix}p95 ms`]: percentile(ascending, 0.95),
    [`${prefix}p99 ms`]: percentile(ascending, 0.99),
  };
}
