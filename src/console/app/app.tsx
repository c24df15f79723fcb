import { lazy, Suspense, useEffect, useState } from 'react';
import { MachinesFeed } from '../service/machines-feed.ts';
import { SessionFeed } from '../service/session-feed.ts';
import { MachinesContext } from '../service/use-machines.ts';
import { FeedContext } from '../service/use-session.ts';
import { SideBySide } from '../side-by-side/side-by-side.tsx';
import style from './app.module.css';
import { type Location, type Panel, useLocation } from './location.ts';
import { Sidebar } from './sidebar.tsx';

const panelOf = {
  chat: lazy(async () => ({ default: (await import('../chat/chat-panel.tsx')).ChatPanel })),
  timeline: lazy(async () => ({ default: (await import('../timeline/timeline-panel.tsx')).TimelinePanel })),
  statecharts: lazy(async () => ({
    default: (await import('../statecharts/statecharts-panel.tsx')).StatechartsPanel,
  })),
  approvals: lazy(async () => ({
    default: (await import('../approvals/approvals-panel.tsx')).ApprovalsPanel,
  })),
  servers: lazy(async () => ({ default: (await import('../servers/servers-panel.tsx')).ServersPanel })),
  health: lazy(async () => ({ default: (await import('../health/health-panel.tsx')).HealthPanel })),
} satisfies Record<Panel, unknown>;

/** The page: a sidebar with sessions and panels, and the open panel. All panels share the feed of the session. */
export function App() {
  const location = useLocation();
  const machines = useOpen(openMachines, 'all');
  const feed = useOpen(openSession, location.sessionId);
  return (
    <MachinesContext value={machines}>
      <FeedContext value={feed}>
        <div className={style.page}>
          {machines && <Sidebar location={location} />}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
          <main className={style.panel} tabIndex={0}>
            {machines && feed && <OpenPanel key={location.sessionId} location={location} />}
          </main>
        </div>
      </FeedContext>
    </MachinesContext>
  );
}

/** The panel of the location; the chat may have another panel beside it. */
function OpenPanel({ location }: { readonly location: Location }) {
  const { panel, beside } = location;
  const only = <Loaded panel={panel} />;
  if (panel !== 'chat') return only;
  return <SideBySide location={location} chat={only} companion={beside && <Loaded panel={beside} />} />;
}

function Loaded({ panel }: { readonly panel: Panel }) {
  const Content = panelOf[panel];
  return (
    <Suspense fallback={<p className={style.loading}>Loading…</p>}>
      <Content />
    </Suspense>
  );
}

const openMachines = (): MachinesFeed => new MachinesFeed();
const openSession = (sessionId: string): SessionFeed => new SessionFeed(sessionId);

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
