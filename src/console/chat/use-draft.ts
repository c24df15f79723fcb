import { useCallback, useState } from 'react';
import { useAccount } from '../service/account.ts';
import { agentBase } from '../service/agent-base.ts';

/** The reader's unsent text of a session of this agent. A reload or another panel does not lose it. */
export function useDraft(sessionId: string): [string, (text: string) => void] {
  const principal = useAccount()?.principal ?? '';
  const key = ['agent-service.draft', agentBase, principal, sessionId].join(' ');
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');
  const change = useCallback(
    (next: string): void => {
      setText(next);
      try {
        if (next === '') sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, next);
      } catch {
        // The browser has no room for it: a text that is too long for a draft can still be sent.
      }
    },
    [key],
  );
  return [text, change];
}
