import { useEffect, useState } from 'react';
import { get } from './api.ts';

/** What a GET answers, asked again every `ms` while the page is visible. Null while that is not known. */
export function usePolled<T>(path: string, ms: number): T | null {
  const [answer, setAnswer] = useState<T | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    const read = (): void => {
      if (document.visibilityState !== 'visible') return;
      get<T>(path, gone.signal).then(setAnswer, () => setAnswer(null)); // The samples tell that the service does not answer.
    };
    read();
    const timer = setInterval(read, ms);
    return () => {
      clearInterval(timer);
      gone.abort();
    };
  }, [path, ms]);
  return answer;
}
