import { forkSession } from '../app/session-actions.ts';
import { useMay } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import type { TimedEvent } from '../service/timed-event.ts';
import { useFeed } from '../service/use-session.ts';
import { Button } from '../ui/button.tsx';
import { EventJson } from './event-json.tsx';
import { callFactsOf, kindOf, originFactsOf } from './event-words.ts';
import { MomentView } from './moment-view.tsx';
import style from './timeline.module.css';

/** One event, and the conversation as it was after it. */
export function EventDetail({ event }: { readonly event: TimedEvent }) {
  const feed = useFeed();
  const mayFork = useMay('sessions:write');
  const { sessionId } = feed;
  const { seq, time } = event;
  const fork = () =>
    void forkSession(sessionId, seq).catch((error: unknown) => feed.notify(errorText(error)));
  return (
    <>
      <header className={style.chosen} data-kind={kindOf(event)}>
        <h2>
          Event {seq} <span className={style.name}>{event.event}</span>
        </h2>
        {mayFork && <Button onClick={fork}>Fork from here</Button>}
        <p className={style.facts}>
          {[new Date(time).toLocaleString(), ...originFactsOf(event), ...callFactsOf(event)].map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
      </header>
      <EventJson key={seq} event={event} />
      <h3>The conversation as it was then</h3>
      <MomentView sessionId={sessionId} seq={seq} />
    </>
  );
}
