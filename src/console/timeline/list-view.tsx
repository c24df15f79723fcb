import { useDeferredValue, useMemo, useState } from 'react';
import type { TimedEvent } from '../service/timed-event.ts';
import { EventFilter } from './event-filter.tsx';
import { EventList } from './event-list.tsx';
import { eventKinds } from './event-words.ts';
import style from './timeline.module.css';
import { type Filter, rowsOf } from './timeline-rows.ts';

const EVERYTHING: Filter = { kinds: new Set(eventKinds), text: '' };

interface ListViewProps {
  readonly events: readonly TimedEvent[];
  /** Seq of the chosen event. */
  readonly chosen: number | null;
  readonly onChoose: (event: TimedEvent) => void;
}

/** The events in order, filtered by kind and by text. */
export function ListView({ events, chosen, onChoose }: ListViewProps) {
  const [filter, setFilter] = useState(EVERYTHING);
  const applied = useDeferredValue(filter);
  const rows = useMemo(() => rowsOf(events, applied), [events, applied]);
  const shown = rows.filter(({ kind }) => kind === 'event').length;
  const choose = (seq: number) => {
    const event = events.find((candidate) => candidate.seq === seq);
    if (event) onChoose(event);
  };
  return (
    <>
      <EventFilter filter={filter} onChange={setFilter}>
        <span className={style.muted} role="status">
          {shown} of {events.length} events
        </span>
      </EventFilter>
      <EventList firstSeq={events[0]?.seq ?? 1} rows={rows} chosen={chosen} onChoose={choose} />
      {shown === 0 && events.length > 0 && <p className={style.empty}>No event matches the filter.</p>}
    </>
  );
}
