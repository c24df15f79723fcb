import { useEffect, useState } from 'react';
import { get } from './api.ts';
import { poll } from './poll.ts';

/** What a GET answers, asked again every `ms` while the page is visible. Null while that is not known. */
export function usePolled<T>(path: string, ms: number): T | null {
  const [answer, setAnswer] = useState<T | null>(null);
  useEffect(
    // The samples tell that the service does not answer.
    () => poll(ms, (signal) => get<T>(path, signal).then(setAnswer, () => setAnswer(null))),
    [path, ms],
  );
  return answer;
}
