import { forkSession } from '../app/session-actions.ts';
import { useMay } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { imageOf } from '../service/image-of.ts';
import { useFeed } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { clockTime, duration } from '../ui/time.ts';
import { totalUsage, usageText } from '../ui/token-usage.ts';
import style from './chat.module.css';
import { useChat } from './chat-context.ts';
import type { StepView, TurnView } from './conversation.ts';

/** When the turn was, what it took, and what can be done with it. */
export function TurnFooter({ turn }: { readonly turn: TurnView }) {
  const { requestedAt, endedAt, steps, attempt } = turn;
  return (
    <footer className={style.footer}>
      <span>{clockTime(requestedAt)}</span>
      {endedAt && (
        <span title="From the message to the end of the reply">{duration(requestedAt, endedAt)}</span>
      )}
      <Usage steps={steps} />
      {attempt > 1 && <Badge>resumed after a restart</Badge>}
      {endedAt && <Actions turn={turn} />}
    </footer>
  );
}

function Actions({ turn }: { readonly turn: TurnView }) {
  const { seq, firstSeq, steps, message, image, status } = turn;
  const feed = useFeed();
  const { mayTalk, say } = useChat();
  const mayFork = useMay('sessions:write');
  const reply = turn.reply ?? steps.map(({ text }) => text).join('');
  const notify = (error: unknown) => feed.notify(errorText(error));
  const fork = () => void forkSession(feed.sessionId, seq).catch(notify);
  const retry = () => {
    if (image) imageOf(feed.sessionId, firstSeq).then((found) => say(message, found), notify);
    else say(message);
  };
  return (
    <span className={style.actions}>
      {/* A turn that answers an earlier message has none to send again. */}
      {status !== 'completed' && mayTalk && message !== '' && (
        <Button kind="quiet" onClick={retry} title="Send the message again">
          Retry
        </Button>
      )}
      {reply !== '' && <CopyButton text={reply.trim()} what="the reply" />}
      {mayFork && (
        <Button kind="quiet" onClick={fork} title="Continue in a copy of the session up to here">
          Fork from here
        </Button>
      )}
    </span>
  );
}

/** The models and tokens of the turn, as far as the provider reports them. */
function Usage({ steps }: { readonly steps: readonly StepView[] }) {
  const models = new Set(steps.flatMap(({ model }) => model ?? []));
  const usage = totalUsage(steps.flatMap((step) => step.usage ?? []));
  return (
    <>
      {models.size > 0 && <span>{[...models].join(', ')}</span>}
      {usage && <span>{usageText(usage)}</span>}
    </>
  );
}
