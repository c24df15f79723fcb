import { Button } from '../ui/button.tsx';
import style from './chat.module.css';

interface NoticesProps {
  readonly notices: readonly string[];
  readonly onDismiss: () => void;
}

/** What was refused: the last of it, until it is read. */
export function Notices({ notices, onDismiss }: NoticesProps) {
  const last = notices.at(-1);
  return (
    <div role="alert" className={last === undefined ? '' : style.notice}>
      {last !== undefined && (
        <>
          <span>{last}</span>
          <Button kind="quiet" onClick={onDismiss}>
            Dismiss
          </Button>
        </>
      )}
    </div>
  );
}
