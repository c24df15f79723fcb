import type { ReactNode } from 'react';
import style from './badge.module.css';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

/** A short word about a state. The word says everything; the colour only repeats it. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={`${style.badge} ${style[tone]}`}>{children}</span>;
}
