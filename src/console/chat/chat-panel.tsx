import { useEffect, useMemo, useRef } from 'react';
import { useMay } from '../service/account.ts';
import { useAgent } from '../service/use-agent.ts';
import { useFeed, useFeedSnapshot } from '../service/use-session.ts';
import { useSessionAccess } from '../sharing/session-access.ts';
import { SideBySideButton } from '../side-by-side/companion-switch.tsx';
import { SelectableTurn } from '../side-by-side/selectable-turn.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { AgentButton } from './agent-button.tsx';
import style from './chat.module.css';
import { ChatContext } from './chat-context.ts';
import { Composer } from './composer.tsx';
import { conversationOf, type Entry, type TurnView } from './conversation.ts';
import { Notices } from './notices.tsx';
import { ResetButton } from './reset-button.tsx';
import { Turn } from './turn.tsx';
import { UnansweredMessages } from './unanswered-messages.tsx';
import { useComposer } from './use-composer.ts';
import { Welcome } from './welcome.tsx';

/** The conversation of the open session. */
export function ChatPanel() {
  const feed = useFeed();
  const { owner, isOwn, isKnown, mayTalk } = useSessionAccess(feed.sessionId);
  const hasScope = useMay('sessions:write');
  const mayWrite = hasScope && mayTalk;
  const mayOnlyRead = !hasScope || (isKnown && !mayTalk);
  const agent = useAgent();
  const { status, events, thoughts, notices, unanswered } = useFeedSnapshot();
  const entries = useMemo(() => conversationOf(events, thoughts), [events, thoughts]);
  const isEmpty = entries.length === 0 && unanswered.length === 0 && status !== 'loading';
  const isBusy = entries.some((entry) => isRunning(entry));
  const { chat, ...composer } = useComposer(mayWrite);
  const cancel = useCancel(isBusy, chat.focusComposer);
  const end = useStickyEnd();
  return (
    <ChatContext value={chat}>
      <PanelHeader title={feed.sessionId}>
        {owner !== null && <Badge>{`of ${owner}${mayOnlyRead ? ', to read' : ''}`}</Badge>}
        {status !== 'live' && <Badge tone="warn">{status}</Badge>}
        {isBusy && <Badge tone="accent">busy</Badge>}
        {agent && <AgentButton agent={agent} />}
        <SideBySideButton />
        {hasScope && isOwn && <ResetButton isEmpty={events.length === 0} />}
      </PanelHeader>
      <div className={style.conversation} role="log" aria-label="Conversation">
        {feed.hasEarlier && <Button onClick={() => feed.loadEarlier()}>Show earlier messages</Button>}
        {isEmpty && mayWrite && <Welcome agent={agent} />}
        <Entries entries={entries} />
        <UnansweredMessages />
        <div ref={end} />
      </div>
      <Notices notices={notices} onDismiss={() => feed.dismissNotices()} />
      {mayWrite && (
        <Composer {...composer} isBusy={isBusy} maxImageBytes={agent?.maxImageBytes} onCancel={cancel} />
      )}
      {mayOnlyRead && <ReadOnly owner={hasScope ? owner : null} />}
    </ChatContext>
  );
}

/** @param owner of a session that is shared for reading only; null if the key is the reason. */
function ReadOnly({ owner }: { readonly owner: string | null }) {
  return owner === null ? (
    <p className={style.mark}>
      Your key may only read: to write, it needs the scope <code>sessions:write</code>.
    </p>
  ) : (
    <p className={style.mark}>
      {owner} does not share this session for talking. Fork it to go on in your own.
    </p>
  );
}

function isRunning(entry: Entry): entry is TurnView {
  return entry.kind === 'turn' && entry.status === 'running';
}

function Entries({ entries }: { readonly entries: readonly Entry[] }) {
  const { running } = useFeedSnapshot();
  return entries.map((entry) =>
    entry.kind === 'mark' ? (
      <p key={entry.seq} className={style.mark}>
        {entry.text}
      </p>
    ) : (
      <SelectableTurn key={entry.turnId} turnId={entry.turnId}>
        <Turn turn={entry} running={running?.turnId === entry.turnId ? running : null} />
      </SelectableTurn>
    ),
  );
}

/** Whether the key is meant for a dialog, or for another field than the message box. */
function isElsewhere({ target }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return true;
  return (
    target instanceof HTMLElement && target.matches('input, textarea, select') && target.id !== 'message'
  );
}

/** Cancels the running turn, also with Escape. */
function useCancel(isBusy: boolean, focusComposer: () => void): () => void {
  const feed = useFeed();
  const cancel = () => {
    focusComposer();
    void feed.do((client) => client.cancel());
  };
  const latest = useRef(cancel);
  latest.current = cancel;
  useEffect(() => {
    if (!isBusy) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
      if (!isElsewhere(event)) latest.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isBusy]);
  return cancel;
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
    const scroller = end.current?.parentElement;
    // Not `scrollIntoView`, which would scroll the page, too, where that is higher than the window.
    if (scroller && isAtEnd.current) scroller.scrollTop = scroller.scrollHeight;
  });
  return end;
}
