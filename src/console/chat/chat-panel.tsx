import { useEffect, useMemo, useRef } from 'react';
import { useFeed, useFeedSnapshot } from '../service/use-session.ts';
import { SideBySideButton } from '../side-by-side/companion-switch.tsx';
import { SelectableTurn } from '../side-by-side/selectable-turn.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import style from './chat.module.css';
import { Composer } from './composer.tsx';
import { conversationOf, type TurnView } from './conversation.ts';
import { Notices } from './notices.tsx';
import { Turn } from './turn.tsx';

/** The conversation of the open session. */
export function ChatPanel() {
  const feed = useFeed();
  const { status, events, running, thoughts, notices } = useFeedSnapshot();
  const entries = useMemo(() => conversationOf(events, thoughts), [events, thoughts]);
  const open = entries.find(
    (entry): entry is TurnView => entry.kind === 'turn' && entry.status === 'running',
  );
  const end = useStickyEnd();
  return (
    <>
      <PanelHeader title={feed.sessionId}>
        {status !== 'live' && <Badge tone="warn">{status}</Badge>}
        {open && <Badge tone="accent">busy</Badge>}
        <SideBySideButton />
        <Button onClick={() => feed.do((client) => client.reset())} disabled={events.length === 0}>
          Reset
        </Button>
      </PanelHeader>
      <div className={style.conversation} role="log" aria-label="Conversation">
        {feed.hasEarlier && <Button onClick={() => void feed.loadEarlier()}>Show earlier messages</Button>}
        {entries.length === 0 && status !== 'loading' && <Welcome />}
        {entries.map((entry) =>
          entry.kind === 'mark' ? (
            <p key={entry.seq} className={style.mark}>
              {entry.text}
            </p>
          ) : (
            <SelectableTurn key={entry.turnId} turnId={entry.turnId}>
              <Turn turn={entry} running={running?.turnId === entry.turnId ? running : null} />
            </SelectableTurn>
          ),
        )}
        <div ref={end} />
      </div>
      <Notices notices={notices} onDismiss={() => feed.dismissNotices()} />
      <Composer isBusy={open !== undefined} />
    </>
  );
}

function Welcome() {
  return (
    <div className={style.welcome}>
      <h2>Say something</h2>
      <p>
        Messages, replies and tool calls of this session are kept in the log: a reload, a lost connection or a
        restart of the service loses none of them.
      </p>
    </div>
  );
}

/** Keeps the conversation scrolled to its end while text arrives, unless the reader has scrolled away. */
function useStickyEnd() {
  const end = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const scroller = end.current?.parentElement;
    if (!scroller) return undefined;
    const noteScroll = () => {
      isAtEnd.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
    };
    scroller.addEventListener('scroll', noteScroll);
    return () => scroller.removeEventListener('scroll', noteScroll);
  }, []);
  // Runs after every render, because any change may have moved the end.
  useEffect(() => {
    if (isAtEnd.current) end.current?.scrollIntoView({ block: 'end' });
  });
  return end;
}
