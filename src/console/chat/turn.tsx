import { memo } from 'react';
import { forkSession } from '../app/session-actions.ts';
import { errorText } from '../service/api.ts';
import { useFeed } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { clockTime, duration } from '../ui/time.ts';
import style from './chat.module.css';
import type { TurnView } from './conversation.ts';
import { Markdown } from './markdown.tsx';
import { ToolCall } from './tool-call.tsx';

interface TurnProps {
  readonly turn: TurnView;
  /** What its running step has said so far. */
  readonly running: string;
}

/** One message and all that came of it. */
export const Turn = memo(function Turn({ turn, running }: TurnProps) {
  const { message, image, steps, status, error, attempt } = turn;
  return (
    <article className={style.turn} aria-label={`Turn: ${message.slice(0, 60)}`}>
      <div className={style.user}>
        <p>{message}</p>
        {image && (
          <Badge>
            {image.mimeType}, {Math.ceil(image.bytes / 1024)} KB
          </Badge>
        )}
      </div>
      <div className={style.reply}>
        {steps.map(({ step, text, calls }) => (
          <div key={step} className={style.step}>
            <Markdown text={text} />
            {calls.map((call) => (
              <ToolCall key={call.callId} call={call} />
            ))}
          </div>
        ))}
        {running !== '' && <Markdown text={running} />}
        {status === 'waiting' && <p className={style.muted}>Waiting for its turn…</p>}
        {status === 'running' && running === '' && <Thinking turn={turn} />}
        {error && <Ending error={error} />}
      </div>
      <footer className={style.footer}>
        <span>{clockTime(turn.requestedAt)}</span>
        {turn.endedAt && <span>{duration(turn.requestedAt, turn.endedAt)}</span>}
        {attempt > 1 && <Badge>resumed after a restart</Badge>}
        {turn.endedAt && <ForkButton seq={turn.seq} />}
      </footer>
    </article>
  );
});

function Thinking({ turn }: { readonly turn: TurnView }) {
  const isWaiting = turn.steps.at(-1)?.calls.some(({ state }) => state === 'waiting');
  return <p className={style.muted}>{isWaiting ? 'Waiting for your answer…' : 'Working…'}</p>;
}

function Ending({ error }: { readonly error: NonNullable<TurnView['error']> }) {
  const isCancelled = error.code === 'TURN_CANCELLED';
  const { reason } = error.details;
  return (
    <p className={style.ending}>
      <Badge tone={isCancelled ? 'warn' : 'bad'}>{isCancelled ? 'cancelled' : 'failed'}</Badge>{' '}
      {typeof reason === 'string' ? reason : error.message}
    </p>
  );
}

function ForkButton({ seq }: { readonly seq: number }) {
  const feed = useFeed();
  return (
    <Button
      kind="quiet"
      onClick={() =>
        void forkSession(feed.sessionId, seq).catch((error: unknown) => feed.notify(errorText(error)))
      }
    >
      Fork from here
    </Button>
  );
}
