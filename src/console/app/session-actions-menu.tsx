import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
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
  const run = (action: Promise<void>) =>
    void action.then(refresh, (error: unknown) => window.alert(errorText(error)));
  const erase = async (): Promise<void> => {
    if (!window.confirm(`Delete “${title}” and erase all its events?`)) return;
    await deleteSession(sessionId);
    go({ panel: 'chat', sessionId: newSessionId() });
  };
  return (
    <div className={style.actions}>
      <Button kind="quiet" onClick={onRename}>
        Rename
      </Button>
      <Button kind="quiet" onClick={() => run(forkSession(sessionId))}>
        Fork
      </Button>
      <Button kind="quiet" onClick={() => run(erase())}>
        Delete
      </Button>
    </div>
  );
}
