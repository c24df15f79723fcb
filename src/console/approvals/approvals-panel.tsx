import { useRef, useState } from 'react';
import type { WaitingApproval } from '../../core/session/session-view.ts';
import { PanelHeader } from '../ui/panel-header.tsx';
import { type Answer, ApprovalCard } from './approval-card.tsx';
import style from './approvals.module.css';
import { useApprovals } from './use-approvals.ts';

/** The inbox: the tool calls of all sessions that wait for approval, oldest first. */
export function ApprovalsPanel() {
  const { approvals, count, problem, refresh } = useApprovals();
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [said, setSaid] = useState('');
  const list = useRef<HTMLElement>(null);
  const open = approvals?.filter((approval) => !decided.has(keyOf(approval)));
  const note = (approval: WaitingApproval, decision: Answer): void => {
    setDecided((before) => new Set(before).add(keyOf(approval)));
    setSaid(
      `${decision === 'approve' ? 'Approved' : 'Denied'}: ${approval.toolName} in ${approval.sessionId}`,
    );
    // The button that had the focus is gone.
    list.current?.focus();
    refresh();
  };
  return (
    <>
      <PanelHeader title="Approvals" />
      {problem !== null && (
        <p role="alert" className={style.problem}>
          {problem}
        </p>
      )}
      <p role="status" className={style.said}>
        {said}
      </p>
      <section ref={list} tabIndex={-1} aria-label="Calls that wait for approval" className={style.list}>
        {open?.length === 0 && <p className={style.empty}>No tool call waits for approval.</p>}
        {open?.map((approval) => (
          <ApprovalCard
            key={keyOf(approval)}
            approval={approval}
            onDecided={(decision) => note(approval, decision)}
          />
        ))}
        {approvals && count > approvals.length && (
          <p className={style.muted}>
            {count - approvals.length} more wait. They appear here once these are decided.
          </p>
        )}
      </section>
    </>
  );
}

/** An id of a call may come again in another turn. */
function keyOf({ sessionId, turnId, callId }: WaitingApproval): string {
  return `${sessionId} ${turnId} ${callId}`;
}
