import { useEffect, useRef, useState } from 'react';
import { useAccount } from '../service/account.ts';
import { randomId } from '../service/hub/random-id.ts';
import { ofBrowser } from '../service/storage.ts';
import { isBrowsers } from '../ui/browser-keys.ts';
import { go, type Location, type Panel } from './location.ts';
import { shownPanels } from './panel-scopes.ts';

/** Whether the keys of one character work. Who uses speech input can switch them off. */
const KEY = 'agent-service.keys';

export interface Keys {
  readonly isHelpOpen: boolean;
  readonly setHelpOpen: (isOpen: boolean) => void;
  readonly areOn: boolean;
  readonly setOn: (areOn: boolean) => void;
}

/** The keys of the page: each a single character, and only where nothing is being typed. */
export function useKeys(location: Location): Keys {
  const panels = shownPanels(useAccount());
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [areOn, setAreOn] = useState(() => ofBrowser.get(KEY) !== 'off');
  const onKey = (event: KeyboardEvent): void => {
    if (isBrowsers(event) || event.defaultPrevented || isTyping(event)) return;
    if (event.key === '?') setHelpOpen(true);
    else if (!areOn || document.querySelector('dialog[open]') || !press(event.key, location, panels)) return;
    event.preventDefault();
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => latest.current(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
  const setOn = (on: boolean): void => {
    ofBrowser.set(KEY, on ? 'on' : 'off');
    setAreOn(on);
  };
  return { isHelpOpen, setHelpOpen, areOn, setOn };
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select') !== null;
}

/** @returns whether the key means something. */
function press(key: string, location: Location, panels: readonly Panel[]): boolean {
  const panel = /^[1-9]$/.test(key) ? panels[Number(key) - 1] : undefined;
  if (panel) go({ ...location, panel });
  else if (key === 'n') go({ panel: 'chat', sessionId: randomId().slice(0, 8) });
  else if (key === '/') {
    // The chat focuses its message box when it opens.
    go({ ...location, panel: 'chat' });
    document.getElementById('message')?.focus();
  } else return false;
  return true;
}
