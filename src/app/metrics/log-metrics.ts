import type { LogSize } from '../../ports/event-store.ts';
import type { Metrics } from '../../ports/metrics.ts';

/** Shows how large the log is. A log that does not answer has no series, so the other metrics are still there. */
export function showLog(metrics: Metrics, logSize: () => Promise<LogSize | null>): void {
  // Prometheus reads both metrics at once: one question to the log answers both.
  let asked: Promise<LogSize | null> | null = null;
  const ask = (): Promise<LogSize | null> => {
    asked ??= logSize().finally(() => {
      asked = null;
    });
    return asked;
  };
  metrics.read('agent_log_bytes', async () => {
    const size = await ask();
    if (size === null) return [];
    return [
      { labels: { file: 'database' }, value: size.databaseBytes },
      { labels: { file: 'wal' }, value: size.walBytes },
    ];
  });
  metrics.read('agent_log_events', async () => {
    const size = await ask();
    return size === null ? [] : [{ labels: {}, value: size.events }];
  });
}
