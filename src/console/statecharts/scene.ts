import type { ReactNode } from 'react';
import type { Chart } from './chart/chart.ts';
import type { Lit } from './chart/chart-flow.ts';

/** What the panel shows. Live and past turns are scenes of the same chart, so it stays in place between them. */
export interface Scene {
  readonly chart: Chart;
  readonly lit: Lit;
  /** Below the chart. */
  readonly bar: ReactNode;
  /** Beside the chart. */
  readonly side: ReactNode;
}
