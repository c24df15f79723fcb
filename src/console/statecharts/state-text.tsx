import type { ReactNode } from 'react';
import type { StateValue } from '../../core/machine-state.ts';
import { activeIn, availableEvents, stateText } from './chart/active-states.ts';
import type { Chart } from './chart/chart.ts';
import style from './statecharts.module.css';

interface StateTextProps {
  readonly chart: Chart;
  /** Null when the machine does not run. */
  readonly value: StateValue | null;
  /** The event that led to the state. */
  readonly event: ReactNode;
  readonly context: Readonly<Record<string, unknown>> | null;
}

/** Says in words what the chart shows. */
export function StateText({ chart, value, event, context }: StateTextProps) {
  const events = value === null ? [] : availableEvents(chart, activeIn(chart.id, value));
  return (
    <dl className={style.facts}>
      <dt>State</dt>
      <dd>
        <strong role="status">{value === null ? 'not running' : stateText(value)}</strong>
      </dd>
      <dt>Last event</dt>
      <dd>{event}</dd>
      <dt>Waits for</dt>
      <dd className={style.events}>
        {events.length === 0 ? 'nothing' : events.map((name) => <code key={name}>{name}</code>)}
      </dd>
      {Object.entries(context ?? {}).map(([name, field]) => (
        <ContextField key={name} name={name} field={field} />
      ))}
    </dl>
  );
}

function ContextField({ name, field }: { readonly name: string; readonly field: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code>{typeof field === 'string' ? field : JSON.stringify(field)}</code>
      </dd>
    </>
  );
}
