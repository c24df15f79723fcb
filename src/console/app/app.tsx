import { useCallback, useEffect, useState } from 'react';
import { useAccount } from '../service/account.ts';
import type { HubLink } from '../service/hub-link.ts';
import { MachinesFeed } from '../service/machines-feed.ts';
import { SessionFeed } from '../service/session-feed.ts';
import { MachinesContext } from '../service/use-machines.ts';
import { FeedContext } from '../service/use-session.ts';
import { EndingSignIn } from '../sign-in/ending-sign-in.tsx';
import style from './app.module.css';
import { ConnectionNotice } from './connection-notice.tsx';
import { useKeys } from './keys.ts';
import { KeysDialog } from './keys-dialog.tsx';
import { useLocation } from './location.ts';
import { OpenPanels } from './open-panels.tsx';
import { Sidebar } from './sidebar.tsx';

/** The page: a sidebar with sessions and panels, and the open panel. All panels share the feed of the session. */
export function App({ hub }: { readonly hub: HubLink }) {
  const account = useAccount();
  const location = useLocation();
  const keys = useKeys(location);
  const openMachines = useCallback(() => new MachinesFeed(hub), [hub]);
  const openSession = useCallback((sessionId: string) => new SessionFeed(sessionId, hub), [hub]);
  const machines = useOpen(openMachines, 'all');
  const feed = useOpen(openSession, location.sessionId);
  return (
    <MachinesContext value={machines}>
      <FeedContext value={feed}>
        <div className={style.page}>
          {machines && <Sidebar location={location} onHelp={() => keys.setHelpOpen(true)} />}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
          <main className={style.panel} tabIndex={0}>
            {account && <EndingSignIn account={account} />}
            {machines && feed && <ConnectionNotice />}
            {machines && feed && <OpenPanels location={location} />}
          </main>
          {keys.isHelpOpen && <KeysDialog {...keys} />}
        </div>
      </FeedContext>
    </MachinesContext>
  );
}

/** Opens a value for the key and closes it when the key changes. Null until the value for this key is open. */
function useOpen<T extends { close(): void }>(open: (key: string) => T, key: string): T | null {
  const [opened, setOpened] = useState<{ readonly key: string; readonly value: T } | null>(null);
  useEffect(() => {
    const value = open(key);
    setOpened({ key, value });
    return () => value.close();
  }, [open, key]);
  return opened?.key === key ? opened.value : null;
}
