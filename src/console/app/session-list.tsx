import type { Sessions } from '../service/use-sessions.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { go, hrefOf, type Location } from './location.ts';
import style from './session-list.module.css';

/** The sessions at the side: a new one, and the way to each. */
export function SessionList({ location, sessions }: Sessions & { readonly location: Location }) {
  const isNew = !sessions.some(({ sessionId }) => sessionId === location.sessionId);
  const panel = location.panel === 'servers' || location.panel === 'health' ? 'chat' : location.panel;
  const begin = () => go({ panel: 'chat', sessionId: crypto.randomUUID().slice(0, 8) });
  return (
    <section className={style.sessions} aria-labelledby="sessions-heading">
      <div className={style.heading}>
        <h2 id="sessions-heading">Sessions</h2>
        <Button onClick={begin}>New</Button>
      </div>
      <ul>
        {isNew && <Entry href={hrefOf(location)} sessionId={location.sessionId} isOpen isBusy={false} />}
        {sessions.map(({ sessionId, status }) => (
          <Entry
            key={sessionId}
            href={hrefOf({ panel, sessionId })}
            sessionId={sessionId}
            isOpen={sessionId === location.sessionId}
            isBusy={status === 'busy'}
          />
        ))}
      </ul>
    </section>
  );
}

interface EntryProps {
  readonly href: string;
  readonly sessionId: string;
  readonly isOpen: boolean;
  readonly isBusy: boolean;
}

function Entry({ href, sessionId, isOpen, isBusy }: EntryProps) {
  return (
    <li>
      <a href={href} aria-current={isOpen ? 'true' : undefined}>
        <span>{sessionId}</span>
        {isBusy && <Badge tone="accent">busy</Badge>}
      </a>
    </li>
  );
}
