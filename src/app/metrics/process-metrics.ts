import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from '../../ports/metrics.ts';

/** Interval between two looks at the event loop; shorter delays are not seen. */
const RESOLUTION_MS = 20;
/** Readings within this time see the same samples, so that two readers do not disturb each other. */
const LAG_WINDOW_MS = 10_000;

/** Shows the metrics of the process. @returns a function that stops watching the event loop. */
export function showProcess(metrics: Metrics, version: string): () => void {
  metrics.addDefaults();
  metrics.read('agent_build_info', () => [{ labels: { version }, value: 1 }]);
  metrics.read('process_uptime_seconds', () => [{ labels: {}, value: process.uptime() }]);
  metrics.read('process_heap_bytes', () => [{ labels: {}, value: process.memoryUsage().heapUsed }]);
  return showEventLoopLag(metrics);
}

function showEventLoopLag(metrics: Metrics): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let since = performance.now();
  metrics.read('agent_event_loop_lag_seconds', () => {
    // A sample is the time between two looks, so an idle loop has samples of the resolution itself.
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
