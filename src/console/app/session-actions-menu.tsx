import { useState } from 'react';
import { useAccount, useMay } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { useSessionAccess } from '../sharing/session-access.ts';
import { ShareDialog } from '../sharing/share-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';
import { go, newSessionId } from './location.ts';
import { deleteSession, forkSession } from './session-actions.ts';
import style from './session-list.module.css';

interface SessionActionsProps {
  readonly sessionId: string;
  /** What the list calls the session. */
  readonly title: string;
  readonly onRename: () => void;
  readonly refresh: () => void;
}

/** The buttons below the open session. */
export function SessionActions({ sessionId, title, onRename, refresh }: SessionActionsProps) {
  const [asked, setAsked] = useState<'delete' | 'share' | null>(null);
  const access = useSessionAccess(sessionId);
  const mayWrite = useMay('sessions:write');
  const isOwn = access.isOwn && mayWrite;
  const canShare = useAccount() !== null && isOwn;
  const run = (action: Promise<void>) =>
    void action.then(refresh, (error: unknown) => window.alert(errorText(error)));
  const erase = async (): Promise<void> => {
    await deleteSession(sessionId);
    go({ panel: 'chat', sessionId: newSessionId() });
  };
  const close = () => setAsked(null);
  return (
    <div className={style.actions}>
      {isOwn && (
        <Button kind="quiet" onClick={onRename}>
          Rename
        </Button>
      )}
      {mayWrite && (
        <Button kind="quiet" onClick={() => run(forkSession(sessionId))}>
          Fork
        </Button>
      )}
      {canShare && (
        <Button kind="quiet" onClick={() => setAsked('share')}>
          Share…
        </Button>
      )}
      {isOwn && (
        <Button kind="quiet" onClick={() => setAsked('delete')}>
          Delete
        </Button>
      )}
      {asked === 'share' && <ShareDialog sessionId={sessionId} title={title} onClose={close} />}
      {asked === 'delete' && (
        <ConfirmDialog
          title={`Delete “${title}”?`}
          text="All events of the session are erased. Nobody can bring them back."
          action="Delete"
          onConfirm={() => run(erase())}
          onClose={close}
        />
      )}
    </div>
  );
}
