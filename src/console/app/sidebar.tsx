import { useAccount } from '../service/account.ts';
import { agentBase } from '../service/agent-base.ts';
import { useWaitingCalls } from '../service/use-waiting-calls.ts';
import { SignedIn } from '../sign-in/signed-in.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { AgentSwitch } from './agent-switch.tsx';
import { Brand } from './brand.tsx';
import { hrefOf, type Location, type Panel } from './location.ts';
import { shownPanels } from './panel-scopes.ts';
import { SessionList } from './session-list.tsx';
import style from './sidebar.module.css';

const names: Readonly<Record<Panel, string>> = {
  chat: 'Chat',
  timeline: 'Timeline',
  statecharts: 'Statecharts',
  approvals: 'Approvals',
  servers: 'Tool servers',
  health: 'Health',
  keys: 'API keys',
};

interface SidebarProps {
  readonly location: Location;
  /** Shows the keys. */
  readonly onHelp: () => void;
}

export function Sidebar({ location, onHelp }: SidebarProps) {
  const account = useAccount();
  return (
    <aside className={style.sidebar}>
      <Brand />
      <AgentSwitch />
      <nav className={style.panels} aria-label="Panels">
        {shownPanels(account).map((panel) => (
          <a
            key={panel}
            href={hrefOf({ ...location, panel })}
            aria-current={panel === location.panel ? 'page' : undefined}
          >
            {names[panel]}
            {panel === 'approvals' && <WaitingCount />}
          </a>
        ))}
      </nav>
      <SessionList location={location} />
      <div className={style.bottom}>
        <SignedIn />
        <footer className={style.footer}>
          <a href={`${agentBase}/docs`} target="_blank" rel="noopener">
            API documentation
          </a>
          <Button kind="quiet" onClick={onHelp}>
            Keys <kbd>?</kbd>
          </Button>
        </footer>
      </div>
    </aside>
  );
}

function WaitingCount() {
  const { length } = useWaitingCalls();
  if (length === 0) return null;
  return (
    <Badge tone="warn">
      {length}
      <span className="visually-hidden"> waiting</span>
    </Badge>
  );
}
