import { useCallback, useState } from 'react';

/** The unsent text of a session. A reload or another panel does not lose it. */
export function useDraft(sessionId: string): [string, (text: string) => void] {
  const key = `agent-service.draft.${sessionId}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');
  const change = useCallback(
    (next: string): void => {
      if (next === '') sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, next);
      setText(next);
    },
    [key],
  );
  return [text, change];
}
