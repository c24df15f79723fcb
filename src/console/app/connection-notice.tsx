import { useEffect, useState } from 'react';
import { useMachines } from '../service/use-machines.ts';
import { useFeedSnapshot } from '../service/use-session.ts';
import style from './connection-notice.module.css';

const SECOND_MS = 1_000;

/** Says why the page gets no news from the service, and when it tries again. */
export function ConnectionNotice() {
  const { trouble: ofMachines } = useMachines();
  const { trouble: ofSession } = useFeedSnapshot();
  const trouble = ofSession ?? ofMachines;
  const now = useClock(trouble !== null);
  const seconds = trouble ? Math.max(0, Math.ceil((trouble.retryAt - now) / SECOND_MS)) : 0;
  return (
    // The countdown is not read aloud each second: only the reason is in the live region.
    <div className={trouble ? style.notice : ''}>
      <span role="status">{trouble?.message}</span>
      {trouble && (
        <span className={style.retry}>{seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…'}</span>
      )}
    </div>
  );
}

/** The time, in milliseconds since the epoch. It goes on only while it is shown. */
function useClock(isShown: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isShown) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [isShown]);
  return now;
}
