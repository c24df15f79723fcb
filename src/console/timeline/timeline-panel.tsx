import { adjust, useLocation } from '../app/location.ts';
import { Notices } from '../chat/notices.tsx';
import type { TimedEvent } from '../service/timed-event.ts';
import { useFeed, useFeedSnapshot } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { Segments } from '../ui/segments.tsx';
import { EventDetail } from './event-detail.tsx';
import { ListView } from './list-view.tsx';
import style from './timeline.module.css';
import { WaterfallView } from './waterfall/waterfall-view.tsx';

const views = [
  { value: 'waterfall', name: 'Waterfall' },
  { value: 'list', name: 'List' },
] as const;

/** The events of the open session, as bars over time or as a list, and the conversation as it was at the chosen one. */
export function TimelinePanel() {
  const feed = useFeed();
  const { status, events, notices } = useFeedSnapshot();
  const { view = 'waterfall', turnId, seq } = useLocation();
  const event = chosenEvent(events, turnId, seq);
  return (
    <>
      <PanelHeader title="Timeline">
        {status !== 'live' && <Badge tone="warn">{status}</Badge>}
        {feed.hasEarlier && <Button onClick={() => feed.loadEarlier()}>Load earlier events</Button>}
        <Segments
          label="View"
          choices={views}
          chosen={view}
          onChoose={(chosen) => adjust({ view: chosen === 'list' ? chosen : undefined })}
        />
      </PanelHeader>
      <div className={style.split}>
        <section className={style.events} aria-label="Events of the session">
          {view === 'list' ? (
            <ListView events={events} chosen={event?.seq ?? null} onChoose={choose} />
          ) : (
            <WaterfallView events={events} choice={{ turnId, seq }} onChoose={choose} />
          )}
          {events.length === 0 && status !== 'loading' && (
            <p className={style.empty}>Nothing has happened in this session yet.</p>
          )}
        </section>
        <section className={style.detail} aria-label="Chosen event" data-empty={!event}>
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

const choose = ({
  turnId,
  seq,
}: {
  readonly turnId?: string | undefined;
  readonly seq?: number | undefined;
}) => adjust({ turnId, seq });

/** The chosen event or, when only a turn was chosen, the first event of that turn. */
function chosenEvent(
  events: readonly TimedEvent[],
  turnId: string | undefined,
  seq: number | undefined,
): TimedEvent | undefined {
  if (seq !== undefined) return events.find((event) => event.seq === seq);
  return turnId === undefined ? undefined : events.find((event) => event.turnId === turnId);
}
