import { Button } from '../ui/button.tsx';
import style from './panel-problem.module.css';

interface PanelProblemProps {
  readonly error: Error;
  readonly onRetry: () => void;
}

/** Stands in for a panel, or for the page, that threw an error. */
export function PanelProblem({ error, onRetry }: PanelProblemProps) {
  return (
    <div className={style.problem} role="alert">
      <h2>This part of the page has failed</h2>
      <p>{error.message}</p>
      <div className={style.actions}>
        <Button kind="primary" onClick={onRetry}>
          Show it again
        </Button>
        <Button onClick={() => window.location.reload()}>Reload the page</Button>
      </div>
    </div>
  );
}
