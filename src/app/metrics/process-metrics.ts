import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from '../../ports/metrics.ts';

/** How often the event loop is looked at; a delay shorter than that is not seen. */
const RESOLUTION_MS = 20;
/** Whoever reads more often than this sees the same time span again, so that two readers do not disturb each other. */
const LAG_WINDOW_MS = 10_000;

/** Shows what the process takes. @returns a function that ends the watch on the event loop. */
export function showProcess(metrics: Metrics, version: string): () => void {
  const startedAt = Date.now() / 1_000 - process.uptime();
  metrics.read('agent_build_info', () => [{ labels: { version }, value: 1 }]);
  metrics.read('process_uptime_seconds', () => [{ labels: {}, value: process.uptime() }]);
  metrics.read('process_start_time_seconds', () => [{ labels: {}, value: startedAt }]);
  metrics.read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return [{ labels: {}, value: (user + system) / 1e6 }];
  });
  metrics.read('process_resident_memory_bytes', () => [{ labels: {}, value: process.memoryUsage.rss() }]);
  metrics.read('process_heap_bytes', () => [{ labels: {}, value: process.memoryUsage().heapUsed }]);
  return showEventLoopLag(metrics);
}

function showEventLoopLag(metrics: Metrics): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let since = performance.now();
  metrics.read('agent_event_loop_lag_seconds', () => {
    // What is measured is the time between two looks: an idle loop shows the resolution itself.
    const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
    const readings = [
      { labels: { quantile: '0.5' }, value: seconds(delays.percentile(50)) },
      { labels: { quantile: '0.99' }, value: seconds(delays.percentile(99)) },
      { labels: { quantile: 'max' }, value: seconds(delays.max) },
    ];
    if (performance.now() - since >= LAG_WINDOW_MS) {
      delays.reset();
      since = performance.now();
    }
    return readings;
  });
  return () => void delays.disable();
}
