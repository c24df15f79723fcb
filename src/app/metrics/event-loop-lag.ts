import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from '../../ports/metrics.ts';

/** Interval between two looks at the event loop; shorter delays are not seen. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 10_000;

type Quantile = '0.5' | '0.99' | 'max';

/**
 * Shows the delay of the event loop: the larger one of the running window and of the window before it. So two readers
 * do not hide a delay from each other. @returns a function that stops watching the event loop.
 */
export function showEventLoopLag(metrics: Metrics): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let since = performance.now();
  let before: Record<Quantile, number> = { '0.5': 0, '0.99': 0, max: 0 };
  metrics.read('agent_event_loop_lag_seconds', () => {
    const running = lagOf(delays);
    const readings = quantiles.map((quantile) => ({
      labels: { quantile },
      value: Math.max(before[quantile], running[quantile]),
    }));
    if (performance.now() - since >= WINDOW_MS) {
      before = running;
      delays.reset();
      since = performance.now();
    }
    return readings;
  });
  return () => void delays.disable();
}

const quantiles: readonly Quantile[] = ['0.5', '0.99', 'max'];

function lagOf(delays: IntervalHistogram): Record<Quantile, number> {
  // A sample is the time between two looks, so an idle loop has samples of the resolution itself.
  const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1e3);
  return {
    '0.5': seconds(delays.percentile(50)),
    '0.99': seconds(delays.percentile(99)),
    max: seconds(delays.max),
  };
}
