import { createContext, type ReactNode, useContext } from 'react';
import style from './panel-header.module.css';

/** Replaces the title of a panel that stands beside another one. */
export const PanelTitle = createContext<ReactNode>(null);

/** The header of a panel: its title and the actions for the whole panel. */
export function PanelHeader({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  const replaced = useContext(PanelTitle);
  return (
    <header className={style.header}>
      {replaced ?? <h1>{title}</h1>}
      <div className={style.actions}>{children}</div>
    </header>
  );
}
