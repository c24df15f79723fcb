import { useEffect, useState } from 'react';
import type { MetricsReport } from '../../core/metric-catalogue.ts';
import { errorText, get } from '../service/api.ts';
import type { Sample } from './samples.ts';

const INTERVAL_MS = 2_000;
/** Five minutes. */
const MOST_SAMPLES = 150;

/** Samples the metrics every two seconds while the page is visible. The newest sample is the last. */
export function useSamples(): { readonly samples: readonly Sample[]; readonly problem: string | null } {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    const sample = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      try {
        const report = await get<MetricsReport>('/metrics', gone.signal);
        setSamples((known) => [...known, { time: Date.now(), report }].slice(-MOST_SAMPLES));
        setProblem(null);
      } catch (error) {
        if (!gone.signal.aborted) setProblem(errorText(error));
      }
    };
    void sample();
    const timer = setInterval(() => void sample(), INTERVAL_MS);
    return () => {
      clearInterval(timer);
      gone.abort();
    };
  }, []);
  return { samples, problem };
}
