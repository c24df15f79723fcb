import type { ReactNode } from 'react';
import style from './panel-header.module.css';

/** The line above a panel: what it is, and what can be done with the whole of it. */
export function PanelHeader({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <header className={style.header}>
      <h1>{title}</h1>
      <div className={style.actions}>{children}</div>
    </header>
  );
}
