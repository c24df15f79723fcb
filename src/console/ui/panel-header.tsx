import type { ReactNode } from 'react';
import style from './panel-header.module.css';

/** The header of a panel: its title and the actions for the whole panel. */
export function PanelHeader({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <header className={style.header}>
      <h1>{title}</h1>
      <div className={style.actions}>{children}</div>
    </header>
  );
}
