import { type ReactNode, useEffect, useState } from 'react';
import type { UnsentMessage } from '../../client/session-client.ts';
import { useFeed, useFeedSnapshot } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import style from './chat.module.css';
import { useChat } from './chat-context.ts';

/** The service answers nearly all messages in less, so that nothing flickers. */
const PATIENCE_MS = 500;

/** The messages that wait for a connection, or for the answer of the service, after the conversation. */
export function UnansweredMessages() {
  const { unsent, unanswered, events } = useFeedSnapshot();
  const unsentIds = new Set(unsent.map(({ clientMessageId }) => clientMessageId));
  return unanswered.map((message) => {
    const { clientMessageId } = message;
    if (unsentIds.has(clientMessageId)) return <Unsent key={clientMessageId} message={message} />;
    const isRecorded = events.some(
      ({ event, data }) => event === 'message' && data.clientMessageId === clientMessageId,
    );
    return isRecorded ? null : <Sent key={clientMessageId} message={message} />;
  });
}

interface MessageProps {
  readonly message: UnsentMessage;
}

function Unsent({ message: { clientMessageId, content } }: MessageProps) {
  const feed = useFeed();
  const { putBack } = useChat();
  const withdraw = () =>
    feed.do(async (client) => {
      if (await client.withdraw(clientMessageId)) putBack(content);
    });
  return (
    <Waiting content={content} label="A message that is not sent yet" state="not sent yet">
      <Button kind="quiet" onClick={() => void withdraw()}>
        Withdraw
      </Button>
    </Waiting>
  );
}

/** A message whose connection broke, or is dead without a sign, is sent again by itself. It may have arrived. */
function Sent({ message: { content } }: MessageProps) {
  const isLate = useDelay(PATIENCE_MS);
  if (!isLate) return null;
  const label = 'A message that the service has not confirmed yet';
  return <Waiting content={content} label={label} state="sent, not confirmed yet" />;
}

interface WaitingProps {
  readonly content: string;
  /** For screen readers. */
  readonly label: string;
  readonly state: string;
  readonly children?: ReactNode;
}

function Waiting({ content, label, state, children }: WaitingProps) {
  return (
    <article className={style.turn} aria-label={label}>
      <div className={`${style.user} ${style.unsent}`}>
        <p dir="auto">{content}</p>
      </div>
      <div className={style.unsentNote}>
        <Badge tone="warn">{state}</Badge>
        {children}
      </div>
    </article>
  );
}

/** @returns whether the time is over since the component was shown. */
function useDelay(ms: number): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isOver;
}
