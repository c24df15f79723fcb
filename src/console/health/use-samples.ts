import { useEffect, useState } from 'react';
import type { MetricSamples } from '../../core/metric-samples.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { latest, merged } from './samples.ts';

const INTERVAL_MS = 2_000;
const HOUR_MS = 60 * 60_000;

/** The samples of the last hour, and the present: read every two seconds while the page is visible. */
export function useSamples(): { readonly samples: MetricSamples | null; readonly problem: string | null } {
  const [samples, setSamples] = useState<MetricSamples | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    let known: MetricSamples | null = null;
    const read = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      try {
        const next = await get<MetricSamples>(`/metrics/samples?after=${known?.last ?? 0}`, gone.signal);
        known = latest(merged(known, next), HOUR_MS);
        setSamples(known);
        setProblem(null);
      } catch (error) {
        if (!gone.signal.aborted) setProblem(errorText(error));
      }
    };
    void read();
    const timer = setInterval(() => void read(), INTERVAL_MS);
    return () => {
      clearInterval(timer);
      gone.abort();
    };
  }, []);
  return { samples, problem };
}
