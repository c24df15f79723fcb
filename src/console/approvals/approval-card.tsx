import { useState } from 'react';
import type { WaitingApproval } from '../../core/session/session-view.ts';
import { hrefOf } from '../app/location.ts';
import { useMay } from '../service/account.ts';
import { post } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { sessionPath } from '../service/paths.ts';
import { Decision } from '../ui/decision.tsx';
import { Json } from '../ui/json.tsx';
import style from './approvals.module.css';

export type Answer = 'approve' | 'deny';

interface ApprovalCardProps {
  readonly approval: WaitingApproval;
  readonly onDecided: (decision: Answer) => void;
}

/** One call that waits, with all that a person needs for the decision. */
export function ApprovalCard({ approval, onDecided }: ApprovalCardProps) {
  const { sessionId, callId, toolName, serverId, argumentsHash, since, expiresAt } = approval;
  const mayDecide = useMay('approvals:decide');
  const [isSent, setSent] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const decide = (decision: Answer, details: object): void => {
    setSent(true);
    setProblem(null);
    const path = `${sessionPath(sessionId)}/approvals/${encodeURIComponent(callId)}`;
    post(path, { decision, ...details }).then(
      () => onDecided(decision),
      (error: unknown) => {
        setSent(false);
        setProblem(errorText(error));
      },
    );
  };
  return (
    <article className={style.card} aria-label={`${toolName} in ${sessionId}`}>
      <header>
        <code>{toolName}</code>
        {serverId !== null && <span className={style.muted}>{serverId}</span>}
        <a href={hrefOf({ panel: 'chat', sessionId })}>{sessionId}</a>
        <span className={style.muted}>
          since <time dateTime={since}>{localTime(since)}</time>
        </span>
      </header>
      <Json value={approval.arguments} />
      {expiresAt !== undefined && (
        <p className={style.muted}>
          Denied at <time dateTime={expiresAt}>{localTime(expiresAt)}</time> if nobody answers.
        </p>
      )}
      {problem !== null && <p role="alert">{problem}</p>}
      {mayDecide ? (
        <Decision
          isSent={isSent}
          onApprove={() => decide('approve', { argumentsHash })}
          onDeny={(reason) => decide('deny', { reason })}
        />
      ) : (
        <p className={style.muted}>Somebody else decides whether the agent may run this tool.</p>
      )}
    </article>
  );
}

/** In the reader's time zone; with the date unless it is today. */
function localTime(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}
