import type { ReactNode } from 'react';
import type { StateValue } from '../../core/machine-state.ts';
import { activeIn, availableEvents, meaningsOf, stateText } from './chart/active-states.ts';
import type { Chart } from './chart/chart.ts';
import { fieldName, fieldText } from './context-words.ts';
import { meaningOf } from './event-meanings.ts';
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
  const active = value === null ? [] : activeIn(chart.id, value);
  return (
    <section className={style.words} aria-label="State">
      <p>
        <strong role="status">{value === null ? 'not running' : stateText(value)}</strong>
      </p>
      {meaningsOf(chart, active).map((meaning) => (
        <p key={meaning}>{meaning}</p>
      ))}
      <dl className={style.facts}>
        <dt>Last event</dt>
        <dd>{event}</dd>
        {Object.entries(context ?? {}).map(([field, content]) => (
          <ContextField key={field} field={field} content={content} />
        ))}
      </dl>
      <NextEvents events={availableEvents(chart, active)} />
    </section>
  );
}

function ContextField({ field, content }: { readonly field: string; readonly content: unknown }) {
  return (
    <>
      <dt>{fieldName(field)}</dt>
      <dd>{fieldText(field, content)}</dd>
    </>
  );
}

/** The events that the machine accepts now, folded. */
function NextEvents({ events }: { readonly events: readonly string[] }) {
  if (events.length === 0) return null;
  return (
    <details className={style.next}>
      <summary>What can happen next ({events.length})</summary>
      <ul>
        {events.map((name) => (
          <li key={name}>
            <code>{name}</code> <span>{meaningOf(name)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
