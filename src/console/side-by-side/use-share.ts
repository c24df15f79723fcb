import { useState } from 'react';
import { ofBrowser } from '../service/storage.ts';

const KEY = 'agent-service.chat-share';
export const SHARE = { least: 30, most: 70, usual: 46 };

/** The chat's part of the width, in percent. The browser remembers it. */
export function useShare(): [number, (share: number) => void] {
  const [share, setShare] = useState(() => within(Number(ofBrowser.get(KEY) ?? SHARE.usual)));
  const change = (wanted: number) => {
    const next = within(wanted);
    ofBrowser.set(KEY, String(next));
    setShare(next);
  };
  return [share, change];
}

function within(share: number): number {
  if (!Number.isFinite(share)) return SHARE.usual;
  return Math.round(Math.min(SHARE.most, Math.max(SHARE.least, share)));
}
