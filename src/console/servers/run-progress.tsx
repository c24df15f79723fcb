import type { ToolProgress } from '../../core/tool-call/tool-progress.ts';
import style from './servers.module.css';

/** How far a running tool is. The bar has no end while the server tells none. */
export function RunProgress({ progress }: { readonly progress: ToolProgress | null }) {
  const { progress: done, total, message } = progress ?? {};
  const share =
    done === undefined ? 'Running…' : total === undefined ? `Step ${done}` : `${done} of ${total}`;
  return (
    <div className={style.progress}>
      <progress
        aria-label="Progress"
        {...(total !== undefined && total > 0 && { max: total, value: Math.min(done ?? 0, total) })}
      />
      <span>{message === undefined ? share : `${share}: ${message}`}</span>
    </div>
  );
}
