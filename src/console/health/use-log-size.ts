import { useEffect, useState } from 'react';
import { get } from '../service/api.ts';

/** `/api/health` counts against the rate limit of the address. */
const INTERVAL_MS = 20_000;

export interface LogSize {
  /** 0 if the log is in memory. */
  readonly bytes: number;
  readonly events: number;
}

/** How large the event log is: read every twenty seconds while the page is visible. Null while it is not known. */
export function useLogSize(): LogSize | null {
  const [size, setSize] = useState<LogSize | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    const read = (): void => {
      if (document.visibilityState !== 'visible') return;
      get<{ log?: LogSize }>('/api/health', gone.signal).then(
        ({ log }) => setSize(log ?? null),
        () => setSize(null), // The samples tell that the service does not answer.
      );
    };
    read();
    const timer = setInterval(read, INTERVAL_MS);
    return () => {
      clearInterval(timer);
      gone.abort();
    };
  }, []);
  return size;
}
