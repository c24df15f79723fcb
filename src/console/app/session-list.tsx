import { errorText } from '../service/api.ts';
import { useSessions } from '../service/use-sessions.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { go, hrefOf, type Location, type Panel } from './location.ts';
import { deleteSession, forkSession } from './session-actions.ts';
import style from './session-list.module.css';

/** The panels that show one session. */
const ofSession: ReadonlySet<Panel> = new Set(['chat', 'timeline', 'statecharts']);

/** The list of sessions: a link to each, the actions of the open session, and a button for a new one. */
export function SessionList({ location }: { readonly location: Location }) {
  const { sessions, refresh } = useSessions();
  const isNew = !sessions.some(({ sessionId }) => sessionId === location.sessionId);
  const panel = ofSession.has(location.panel) ? location.panel : 'chat';
  const begin = () => go({ panel: 'chat', sessionId: newSessionId(), beside: location.beside });
  return (
    <section className={style.sessions} aria-labelledby="sessions-heading">
      <div className={style.heading}>
        <h2 id="sessions-heading">Sessions</h2>
        <Button onClick={begin}>New</Button>
      </div>
      <ul>
        {isNew && (
          <li>
            <a href={hrefOf(location)} aria-current="true">
              <span>{location.sessionId}</span>
              <Badge>new</Badge>
            </a>
          </li>
        )}
        {sessions.map(({ sessionId, status, waitingApprovals }) => {
          const isOpen = sessionId === location.sessionId;
          return (
            <li key={sessionId}>
              <a
                href={hrefOf({ panel, sessionId, beside: location.beside, view: location.view })}
                aria-current={isOpen ? 'true' : undefined}
              >
                <span>{sessionId}</span>
                {waitingApprovals ? (
                  <Badge tone="warn">needs approval</Badge>
                ) : (
                  status === 'busy' && <Badge tone="accent">busy</Badge>
                )}
              </a>
              {isOpen && <SessionActions sessionId={sessionId} refresh={refresh} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function SessionActions({
  sessionId,
  refresh,
}: {
  readonly sessionId: string;
  readonly refresh: () => void;
}) {
  const run = (action: Promise<void>) =>
    void action.then(refresh, (error: unknown) => window.alert(errorText(error)));
  const erase = async (): Promise<void> => {
    if (!window.confirm(`Delete the session ${sessionId} and erase all its events?`)) return;
    await deleteSession(sessionId);
    go({ panel: 'chat', sessionId: newSessionId() });
  };
  return (
    <div className={style.actions}>
      <Button kind="quiet" onClick={() => run(forkSession(sessionId))}>
        Fork
      </Button>
      <Button kind="quiet" onClick={() => run(erase())}>
        Delete
      </Button>
    </div>
  );
}

/** Not `crypto.randomUUID`, which browsers have only on secure origins. */
function newSessionId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
