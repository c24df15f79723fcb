import { useState } from 'react';
import type { HistoryEntry, PendingApproval, SessionView } from '../../core/session/session-view.ts';
import { visible } from '../../core/visible.ts';
import { Markdown } from '../chat/markdown.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Json } from '../ui/json.tsx';
import style from './timeline.module.css';
import { useMoment } from './use-moment.ts';

/** How many messages are shown at first, and how many more with each click. */
const PAGE = 30;

/** The conversation as it was after an event. */
export function MomentView({ sessionId, seq }: { readonly sessionId: string; readonly seq: number }) {
  const moment = useMoment(sessionId, seq);
  if (moment.status === 'loading') return <p className={style.muted}>Loading…</p>;
  if (moment.status === 'failed')
    return (
      <p role="alert" className={style.failed}>
        {moment.reason}
      </p>
    );
  const { view } = moment;
  return (
    <>
      <Counts view={view} />
      {view.approvals.map((approval) => (
        <Waiting key={approval.callId} approval={approval} />
      ))}
      <History key={seq} history={view.history} />
    </>
  );
}

function Counts({ view: { status, turns, toolCalls } }: { readonly view: SessionView }) {
  const counts = [
    ['turns', turns.requested],
    ['completed', turns.completed],
    ['failed', turns.failed],
    ['cancelled', turns.cancelled],
    ['waiting', turns.waiting],
    ['tool calls', toolCalls],
  ] as const;
  return (
    <p className={style.counts}>
      <Badge tone={status === 'busy' ? 'accent' : 'neutral'}>{status}</Badge>
      {counts.map(([name, count]) => (
        <span key={name}>
          <strong>{count}</strong> {name}
        </span>
      ))}
    </p>
  );
}

function Waiting({ approval: { toolName, arguments: args } }: { readonly approval: PendingApproval }) {
  return (
    <details className={style.approval}>
      <summary>
        <code>{toolName}</code> waited for approval
      </summary>
      <Json value={args} />
    </details>
  );
}

function History({ history }: { readonly history: readonly HistoryEntry[] }) {
  const [shown, setShown] = useState(PAGE);
  const hidden = Math.max(0, history.length - shown);
  if (history.length === 0)
    return (
      <p className={style.muted}>
        The model sees nothing yet: no turn has begun, or the conversation was reset.
      </p>
    );
  return (
    <ol className={style.history} aria-label="Conversation at that moment">
      {hidden > 0 && (
        <li>
          <Button kind="quiet" onClick={() => setShown(shown + PAGE)}>
            Show {Math.min(PAGE, hidden)} earlier of {hidden}
          </Button>
        </li>
      )}
      {history.slice(hidden).map((entry, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id and never move
        <li key={hidden + index} data-role={isCorrection(entry) ? 'service' : entry.role}>
          <Said entry={entry} />
        </li>
      ))}
    </ol>
  );
}

/** Whether the service has said it to the model. */
function isCorrection(entry: HistoryEntry): boolean {
  return entry.role === 'user' && entry.correction === true;
}

function Said({ entry }: { readonly entry: HistoryEntry }) {
  switch (entry.role) {
    case 'user':
      return (
        <>
          <p dir="auto">{entry.content}</p>
          {entry.image && <Badge>{entry.image.mimeType}</Badge>}
        </>
      );
    case 'assistant':
      return (
        <>
          <Markdown text={entry.content} />
          {entry.toolCalls?.map(({ callId, name, arguments: args }) => (
            <p key={callId} className={style.call}>
              calls <code>{name}</code> <code>{visible(JSON.stringify(args))}</code>
            </p>
          ))}
          {entry.cut && <Badge tone="warn">{entry.cut}</Badge>}
        </>
      );
    case 'tool':
      return (
        <details>
          <summary>
            result of <code>{entry.name}</code>
          </summary>
          <pre>{entry.content}</pre>
        </details>
      );
    default:
      return entry satisfies never;
  }
}
