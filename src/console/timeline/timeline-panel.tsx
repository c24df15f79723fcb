import { useDeferredValue, useMemo, useState } from 'react';
import { Notices } from '../chat/notices.tsx';
import { errorText } from '../service/api.ts';
import { useFeed, useFeedSnapshot } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { EventDetail } from './event-detail.tsx';
import { EventFilter } from './event-filter.tsx';
import { EventList } from './event-list.tsx';
import { eventKinds } from './event-words.ts';
import style from './timeline.module.css';
import { type Filter, rowsOf } from './timeline-rows.ts';

const EVERYTHING: Filter = { kinds: new Set(eventKinds), text: '' };

/** The events of the open session, and beside them the conversation as it was at the chosen event. */
export function TimelinePanel() {
  const feed = useFeed();
  const { status, events, notices } = useFeedSnapshot();
  const [filter, setFilter] = useState(EVERYTHING);
  const [chosen, setChosen] = useState<number | null>(null);
  const applied = useDeferredValue(filter);
  const rows = useMemo(() => rowsOf(events, applied), [events, applied]);
  const event = events.find(({ seq }) => seq === chosen);
  const loadEarlier = () => void feed.loadEarlier().catch((error: unknown) => feed.notify(errorText(error)));
  const shown = rows.filter(({ kind }) => kind === 'event').length;
  return (
    <>
      <PanelHeader title="Timeline">
        {status !== 'live' && <Badge tone="warn">{status}</Badge>}
        <span className={style.muted} role="status">
          {shown} of {events.length} events
        </span>
        {feed.hasEarlier && <Button onClick={loadEarlier}>Load earlier events</Button>}
      </PanelHeader>
      <div className={style.split}>
        <section className={style.events} aria-label="Events of the session">
          <EventFilter filter={filter} onChange={setFilter} />
          <EventList firstSeq={events[0]?.seq ?? 1} rows={rows} chosen={chosen} onChoose={setChosen} />
          {shown === 0 && status !== 'loading' && <NothingListed hasEvents={events.length > 0} />}
        </section>
        <section className={style.detail} aria-label="Chosen event">
          {event ? (
            <EventDetail event={event} />
          ) : (
            <p className={style.empty}>
              Choose an event, by a click or the arrow keys, to see the conversation as it was then.
            </p>
          )}
        </section>
      </div>
      <Notices notices={notices} onDismiss={() => feed.dismissNotices()} />
    </>
  );
}

function NothingListed({ hasEvents }: { readonly hasEvents: boolean }) {
  const text = hasEvents ? 'No event matches the filter.' : 'Nothing has happened in this session yet.';
  return <p className={style.empty}>{text}</p>;
}
