import { useCallback, useState } from 'react';
import { useAccount } from '../service/account.ts';
import { agentBase } from '../service/agent-base.ts';
import { ofTab } from '../service/storage.ts';

/** The reader's unsent text of a session of this agent. A reload or another panel does not lose it. */
export function useDraft(sessionId: string): [string, (text: string) => void] {
  const principal = useAccount()?.principal ?? '';
  const key = ['agent-service.draft', agentBase, principal, sessionId].join(' ');
  const [text, setText] = useState(() => ofTab.get(key) ?? '');
  const change = useCallback(
    (next: string): void => {
      setText(next);
      ofTab.set(key, next === '' ? null : next);
    },
    [key],
  );
  return [text, change];
}
