import { useEffect, useRef, useState } from 'react';
import type { SessionListItem } from '../../core/session/session-view.ts';
import { useMay } from '../service/account.ts';
import { useSessions } from '../service/use-sessions.ts';
import { ownerOf } from '../sharing/session-access.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { go, hrefOf, type Location, newSessionId, type Panel } from './location.ts';
import { SessionActions } from './session-actions-menu.tsx';
import style from './session-list.module.css';
import { SessionTitle } from './session-title.tsx';

/** The panels that show one session. */
const ofSession: ReadonlySet<Panel> = new Set(['chat', 'timeline', 'statecharts']);

/** The list of sessions: a search, a link to each session, and the actions of the open one. */
export function SessionList({ location }: { readonly location: Location }) {
  const mayWrite = useMay('sessions:write');
  const [query, setQuery] = useState('');
  const { sessions, rest, refresh } = useSessions(query.trim(), location.sessionId);
  const [edited, setEdited] = useState<string | null>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const panel = ofSession.has(location.panel) ? location.panel : 'chat';
  const shared = sharedTitles(sessions);
  const isListed = sessions.some(({ sessionId }) => sessionId === location.sessionId);
  return (
    <section className={style.sessions} aria-labelledby="sessions-heading">
      <div className={style.heading}>
        <h2 id="sessions-heading">Sessions</h2>
        {mayWrite && (
          <Button onClick={() => go({ panel: 'chat', sessionId: newSessionId(), beside: location.beside })}>
            New
          </Button>
        )}
      </div>
      <input
        type="search"
        aria-label="Search sessions"
        placeholder="Search"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <ul>
        {!isListed && query === '' && (
          <li>
            <a href={hrefOf(location)} aria-current="true">
              <span>{location.sessionId}</span>
              <Badge>new</Badge>
            </a>
          </li>
        )}
        {sessions.map((session) => {
          const { sessionId } = session;
          const isOpen = sessionId === location.sessionId;
          const endEdit = (how: 'key' | 'leaving'): void => {
            setEdited(null);
            setFocused(how === 'key' ? sessionId : null);
            refresh();
          };
          return (
            <li key={sessionId}>
              {edited === sessionId ? (
                <SessionTitle session={session} onEnd={endEdit} />
              ) : (
                <SessionLink
                  session={session}
                  isOpen={isOpen}
                  href={hrefOf({ panel, sessionId, beside: location.beside, view: location.view })}
                  takesFocus={focused === sessionId}
                  isShared={shared.has(session.title)}
                />
              )}
              {isOpen && (
                <SessionActions
                  sessionId={sessionId}
                  title={session.title ?? sessionId}
                  onRename={() => setEdited(sessionId)}
                  refresh={refresh}
                />
              )}
            </li>
          );
        })}
        {rest !== null && (
          <li>
            <p className={style.rest}>{rest}</p>
          </li>
        )}
      </ul>
      {query !== '' && sessions.length === 0 && <p role="status">No session is found.</p>}
    </section>
  );
}

interface SessionLinkProps {
  readonly session: SessionListItem;
  readonly href: string;
  readonly isOpen: boolean;
  /** The field in its place had the focus. */
  readonly takesFocus: boolean;
  /** Another session has the same title, such as a fork. */
  readonly isShared: boolean;
}

function SessionLink({ session, href, isOpen, takesFocus, isShared }: SessionLinkProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (takesFocus) link.current?.focus();
  }, [takesFocus]);
  const { sessionId, title, status, waitingApprovals } = session;
  const owner = ownerOf(sessionId);
  return (
    <a
      ref={link}
      href={href}
      aria-current={isOpen ? 'true' : undefined}
      title={`${title ?? sessionId} (session ${sessionId})`}
    >
      <span dir="auto">
        {title ?? sessionId}
        {isShared && <small> {sessionId}</small>}
        {owner !== null && <small> of {owner}</small>}
      </span>
      {waitingApprovals ? (
        <Badge tone="warn">needs approval</Badge>
      ) : (
        status === 'busy' && <Badge tone="accent">busy</Badge>
      )}
    </a>
  );
}

/** The titles that more than one of the sessions has. */
function sharedTitles(sessions: readonly SessionListItem[]): ReadonlySet<string | undefined> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { title } of sessions) {
    if (title === undefined) continue;
    if (seen.has(title)) shared.add(title);
    seen.add(title);
  }
  return shared;
}
