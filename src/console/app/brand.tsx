import { useEffect } from 'react';
import icon from '../icon.svg';
import { useServiceHealth } from '../service/use-service-health.ts';
import { Button } from '../ui/button.tsx';
import style from './brand.module.css';
import { useTheme } from './theme.ts';

/** The head of the sidebar: the agent, the theme, and what an operator should know. */
export function Brand() {
  const [theme, toggleTheme] = useTheme();
  const other = theme === 'light' ? 'dark' : 'light';
  const health = useServiceHealth();
  const { name = 'agent-service', description } = health?.agent ?? {};
  useEffect(() => {
    document.title = name;
  }, [name]);
  return (
    <>
      <header className={style.brand}>
        <img src={icon} alt="" width="24" height="24" />
        <strong>{name}</strong>
        <Button
          kind="quiet"
          onClick={toggleTheme}
          aria-label={`Use the ${other} theme`}
          title={`Use the ${other} theme`}
        >
          {theme === 'light' ? '☾' : '☀'}
        </Button>
      </header>
      {description !== undefined && <p className={style.description}>{description}</p>}
      <Warnings warnings={health?.warnings ?? []} />
    </>
  );
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <details className={style.warnings}>
      <summary>{warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}</summary>
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </details>
  );
}
