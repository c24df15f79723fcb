import { Button } from '../ui/button.tsx';
import style from './chat.module.css';

interface NoticesProps {
  readonly notices: readonly string[];
  readonly onDismiss: () => void;
}

/** Shows the newest notice until the reader dismisses it. */
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
