import type { ReactNode } from 'react';
import { type EventKind, eventKinds } from './event-words.ts';
import style from './timeline.module.css';
import type { Filter } from './timeline-rows.ts';

interface EventFilterProps {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
  /** Stands at the end of the row. */
  readonly children: ReactNode;
}

/** Filters the events by kind and by text. */
export function EventFilter({ filter, onChange, children }: EventFilterProps) {
  const toggle = (kind: EventKind) =>
    onChange({ ...filter, kinds: filter.kinds.symmetricDifference(new Set([kind])) });
  return (
    <search className={style.filter}>
      <input
        type="search"
        aria-label="Search in events"
        placeholder="Search in events"
        value={filter.text}
        onChange={({ target }) => onChange({ ...filter, text: target.value })}
      />
      <fieldset>
        <legend className="visually-hidden">Kinds of events</legend>
        {eventKinds.map((kind) => (
          <label key={kind} data-kind={kind}>
            <input type="checkbox" checked={filter.kinds.has(kind)} onChange={() => toggle(kind)} />
            {kind}
          </label>
        ))}
      </fieldset>
      {children}
    </search>
  );
}
