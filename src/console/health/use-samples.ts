import { useEffect, useState } from 'react';
import type { MetricSamples } from '../../core/metric-samples.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { poll } from '../service/poll.ts';
import { latest, merged } from './samples.ts';

const INTERVAL_MS = 2_000;
const HOUR_MS = 60 * 60_000;

/** The samples of the last hour, and the present: read every two seconds while the page is visible. */
export function useSamples(): { readonly samples: MetricSamples | null; readonly problem: string | null } {
  const [samples, setSamples] = useState<MetricSamples | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let known: MetricSamples | null = null;
    return poll(INTERVAL_MS, async (signal) => {
      try {
        const next = await get<MetricSamples>(`/metrics/samples?after=${known?.last ?? 0}`, signal);
        known = latest(merged(known, next), HOUR_MS);
        setSamples(known);
        setProblem(null);
      } catch (error) {
        if (!signal.aborted) setProblem(errorText(error));
      }
    });
  }, []);
  return { samples, problem };
}
