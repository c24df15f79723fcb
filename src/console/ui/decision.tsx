import { useState } from 'react';
import { Button } from './button.tsx';
import style from './decision.module.css';

interface DecisionProps {
  readonly isSent: boolean;
  readonly onApprove: () => void;
  /** @param reason undefined if the person gives none. */
  readonly onDeny: (reason: string | undefined) => void;
}

/** Approves or denies a tool call. The agent reads the reason of a denial, so it can do something else. */
export function Decision({ isSent, onApprove, onDeny }: DecisionProps) {
  const [reason, setReason] = useState('');
  const deny = (): void => onDeny(reason.trim() || undefined);
  return (
    <form
      className={style.decision}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSent && reason.trim() !== '') deny();
      }}
    >
      <Button kind="primary" disabled={isSent} onClick={onApprove}>
        Approve
      </Button>
      <Button kind="danger" disabled={isSent} onClick={deny}>
        Deny
      </Button>
      <input
        aria-label="Reason of a denial"
        placeholder="Why not? The agent reads it"
        maxLength={500}
        value={reason}
        disabled={isSent}
        onChange={({ target }) => setReason(target.value)}
      />
    </form>
  );
}
