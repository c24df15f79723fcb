import { lazy, Suspense, useEffect, useState } from 'react';
import { SessionFeed } from '../service/session-feed.ts';
import { FeedContext } from '../service/use-session.ts';
import { useSessions } from '../service/use-sessions.ts';
import style from './app.module.css';
import { type Panel, useLocation } from './location.ts';
import { Sidebar } from './sidebar.tsx';

const panelOf = {
  chat: lazy(async () => ({ default: (await import('../chat/chat-panel.tsx')).ChatPanel })),
  timeline: lazy(async () => ({ default: (await import('../timeline/timeline-panel.tsx')).TimelinePanel })),
  statecharts: lazy(async () => ({
    default: (await import('../statecharts/statecharts-panel.tsx')).StatechartsPanel,
  })),
  servers: lazy(async () => ({ default: (await import('../servers/servers-panel.tsx')).ServersPanel })),
  health: lazy(async () => ({ default: (await import('../health/health-panel.tsx')).HealthPanel })),
} satisfies Record<Panel, unknown>;

/** The page: sessions and panels at the side, one panel open. All panels of a session share its feed. */
export function App() {
  const location = useLocation();
  const sessions = useSessions();
  const feed = useSessionFeed(location.sessionId);
  const OpenPanel = panelOf[location.panel];
  return (
    <div className={style.page}>
      <Sidebar location={location} {...sessions} />
      <main className={style.panel}>
        {feed && (
          <FeedContext value={feed}>
            <Suspense fallback={<p className={style.loading}>Loading…</p>}>
              <OpenPanel key={feed.sessionId} />
            </Suspense>
          </FeedContext>
        )}
      </main>
    </div>
  );
}

function useSessionFeed(sessionId: string): SessionFeed | null {
  const [feed, setFeed] = useState<SessionFeed | null>(null);
  useEffect(() => {
    const opened = new SessionFeed(sessionId);
    setFeed(opened);
    return () => opened.close();
  }, [sessionId]);
  return feed?.sessionId === sessionId ? feed : null;
}
