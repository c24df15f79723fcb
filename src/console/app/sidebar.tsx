import icon from '../icon.svg';
import { Button } from '../ui/button.tsx';
import { hrefOf, type Location, type Panel, panels } from './location.ts';
import { SessionList } from './session-list.tsx';
import style from './sidebar.module.css';
import { useTheme } from './theme.ts';

const names: Readonly<Record<Panel, string>> = {
  chat: 'Chat',
  timeline: 'Timeline',
  statecharts: 'Statecharts',
  servers: 'Tool servers',
  health: 'Health',
};

interface SidebarProps {
  readonly location: Location;
  /** Shows the keys. */
  readonly onHelp: () => void;
}

export function Sidebar({ location, onHelp }: SidebarProps) {
  const [theme, toggleTheme] = useTheme();
  const other = theme === 'light' ? 'dark' : 'light';
  return (
    <aside className={style.sidebar}>
      <header className={style.brand}>
        <img src={icon} alt="" width="24" height="24" />
        <strong>agent-service</strong>
        <Button
          kind="quiet"
          onClick={toggleTheme}
          aria-label={`Use the ${other} theme`}
          title={`Use the ${other} theme`}
        >
          {theme === 'light' ? '☾' : '☀'}
        </Button>
      </header>
      <nav className={style.panels} aria-label="Panels">
        {panels.map((panel) => (
          <a
            key={panel}
            href={hrefOf({ ...location, panel })}
            aria-current={panel === location.panel ? 'page' : undefined}
          >
            {names[panel]}
          </a>
        ))}
      </nav>
      <SessionList location={location} />
      <footer className={style.footer}>
        <a href="/docs" target="_blank" rel="noopener">
          API documentation
        </a>
        <Button kind="quiet" onClick={onHelp}>
          Keys <kbd>?</kbd>
        </Button>
      </footer>
    </aside>
  );
}
