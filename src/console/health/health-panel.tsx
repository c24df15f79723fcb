import { useState } from 'react';
import type { MetricSamples } from '../../core/metric-samples.ts';
import { Badge } from '../ui/badge.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { Chart } from './chart.tsx';
import { chartGroups } from './charts.ts';
import style from './health.module.css';
import { Nodes } from './nodes.tsx';
import { latest } from './samples.ts';
import { Tiles } from './tiles.tsx';
import { useSamples } from './use-samples.ts';

const spans = [
  { label: 'Last 10 minutes', ms: 10 * 60_000 },
  { label: 'Last hour', ms: 60 * 60_000 },
] as const;

/** The state of the service: now, and over the last hour. */
export function HealthPanel() {
  const { samples, problem } = useSamples();
  const [spanMs, setSpanMs] = useState<number>(spans[1].ms);
  return (
    <>
      <PanelHeader title="Health">
        <select
          className={style.span}
          aria-label="Time shown"
          value={spanMs}
          onChange={({ target }) => setSpanMs(Number(target.value))}
        >
          {spans.map(({ label, ms }) => (
            <option key={ms} value={ms}>
              {label}
            </option>
          ))}
        </select>
        {problem === null ? <Badge tone="good">healthy</Badge> : <Badge tone="bad">not answering</Badge>}
      </PanelHeader>
      <div className={style.health}>
        {problem !== null && (
          <p role="alert" className={style.problem}>
            {problem}
          </p>
        )}
        {samples && <Tiles samples={samples} />}
        <Nodes />
        {samples && <Charts samples={latest(samples, spanMs)} />}
      </div>
    </>
  );
}

function Charts({ samples }: { readonly samples: MetricSamples }) {
  const times = samples.times.map((time) => Date.parse(time));
  return chartGroups.map(({ title, charts }) => (
    <section key={title} aria-label={title} className={style.group}>
      <h2>{title}</h2>
      <div className={style.charts}>
        {charts.map(({ read, ...chart }) => (
          <Chart key={chart.title} {...chart} times={times} values={read(samples)} />
        ))}
      </div>
    </section>
  ));
}
