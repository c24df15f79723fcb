import { useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import style from './panel-problem.module.css';
import { type ServedVersion, servedVersion } from './served-version.ts';

/** The time between two questions whether the service is back. */
const POLL_MS = 2_000;

const texts: Readonly<Record<ServedVersion | 'unknown', readonly [heading: string, advice: string]>> = {
  unknown: ['This panel could not be loaded', 'Asking the service for it again…'],
  none: ['The service does not answer', 'This panel opens by itself as soon as the service is back.'],
  same: ['This panel could not be loaded', 'The service answers. Try again, or reload the page.'],
  other: [
    'The console has been updated',
    'This page is of an earlier version. Reload it to open this panel.',
  ],
};

/** Stands in for a panel whose files could not be loaded, and loads it again when the service is back. */
export function PanelUnavailable({ onRetry }: { readonly onRetry: () => void }) {
  const [served, setServed] = useState<ServedVersion | 'unknown'>('unknown');
  useServed((now, before) => {
    setServed(now);
    if (now === 'same' && before === 'none') onRetry();
  });
  const [heading, advice] = texts[served];
  return (
    <div className={style.problem} role="alert">
      <h2>{heading}</h2>
      <p>{advice}</p>
      <div className={style.actions}>
        <Button onClick={onRetry}>Try again</Button>
        <Button kind={served === 'other' ? 'primary' : 'plain'} onClick={() => window.location.reload()}>
          Reload the page
        </Button>
      </div>
    </div>
  );
}

type OnServed = (now: ServedVersion, before: ServedVersion | null) => void;

/** Asks which console the service has until it answers. */
function useServed(onServed: OnServed): void {
  const latest = useRef(onServed);
  latest.current = onServed;
  useEffect(() => {
    let before: ServedVersion | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      const now = await servedVersion();
      if (isOver) return;
      latest.current(now, before);
      before = now;
      if (now === 'none') timer = setTimeout(() => void ask(), POLL_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
}
