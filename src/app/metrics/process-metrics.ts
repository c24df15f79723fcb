import type { Metrics } from '../../ports/metrics.ts';
import { showEventLoopLag } from './event-loop-lag.ts';

/** Shows the metrics of the process. @returns a function that stops watching the event loop. */
export function showProcess(metrics: Metrics, version: string): () => void {
  metrics.addDefaults();
  metrics.read('agent_build_info', () => [{ labels: { version }, value: 1 }]);
  metrics.read('process_uptime_seconds', () => [{ labels: {}, value: process.uptime() }]);
  metrics.read('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return [{ labels: {}, value: (user + system) / 1e6 }];
  });
  metrics.read('process_resident_memory_bytes', () => [{ labels: {}, value: process.memoryUsage.rss() }]);
  metrics.read('process_heap_bytes', () => [{ labels: {}, value: process.memoryUsage().heapUsed }]);
  return showEventLoopLag(metrics);
}
