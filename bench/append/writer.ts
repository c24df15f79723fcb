import { monitorEventLoopDelay } from 'node:perf_hooks';
import { percentile } from '../support/statistics.ts';
import { openTarget } from './targets.ts';

/*
 * node writer.ts DIRECTORY log|sqlite|lines|postgres|postgres-rows WRITERS MS ROOT URL: runs so many writers for so many milliseconds, each of
 * which appends one event after the other to its own session. ROOT is the checkout whose log it is, URL a PostgreSQL database. Prints a sample as
 * JSON.
 */
const [directory = '', kind = '', writers = '1', ms = '1000', root = '', url = ''] = process.argv.slice(2);
const target = await openTarget(kind, { directory, root, url });
const latencies: number[] = [];
let events = 0;

await write(Number(ms) / 4);
latencies.length = 0;
events = 0;
// The histogram's values include the interval that it samples at.
const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
const cpuBefore = process.cpuUsage();
const begun = performance.now();
await write(Number(ms));
const elapsedMs = performance.now() - begun;
const { user, system } = process.cpuUsage(cpuBefore);
delay.disable();
await target.close();

const ascending = latencies.toSorted((a, b) => a - b);
process.stdout.write(
  JSON.stringify({
    'events/s': (events / elapsedMs) * 1_000,
    'CPU µs/event': (user + system) / events,
    'p50 ms': percentile(ascending, 0.5),
    'p95 ms': percentile(ascending, 0.95),
    'p99 ms': percentile(ascending, 0.99),
    'loop delay p99 ms': Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    'RSS MB': process.memoryUsage.rss() / 1024 / 1024,
  }),
);

async function write(forMs: number): Promise<void> {
  const end = performance.now() + forMs;
  const writer = async (_: unknown, index: number): Promise<void> => {
    while (performance.now() < end) {
      const sent = performance.now();
      await target.append(`w${index}`);
      latencies.push(performance.now() - sent);
      events += 1;
    }
  };
  await Promise.all(Array.from({ length: Number(writers) }, writer));
}
