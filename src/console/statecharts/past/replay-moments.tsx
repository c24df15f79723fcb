import { useEffect, useRef } from 'react';
import { clockTime } from '../../ui/time.ts';
import { stateText } from '../chart/active-states.ts';
import style from '../statecharts.module.css';
import { momentLabel, type ReplayFrame } from './turn-replay.ts';

interface ReplayMomentsProps {
  readonly frames: readonly ReplayFrame[];
  readonly position: number;
  readonly onMove: (position: number) => void;
}

/** The moments of the turn. A click goes to the moment. */
export function ReplayMoments({ frames, position, onMove }: ReplayMomentsProps) {
  const current = useRef<HTMLLIElement>(null);
  // `scrollIntoView` would also scroll the page, away from the chart on a small display.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new position is the reason to scroll
  useEffect(() => {
    const list = current.current?.parentElement;
    if (!list || !current.current) return;
    const { offsetTop, offsetHeight } = current.current;
    const lowest = offsetTop + offsetHeight - list.clientHeight;
    list.scrollTop = Math.min(offsetTop, Math.max(lowest, list.scrollTop));
  }, [position]);
  return (
    <section className={style.moments} aria-labelledby="moments-heading">
      <h2 id="moments-heading">Moments</h2>
      <ol>
        {frames.map((frame) => (
          <li
            key={frame.number}
            ref={frame.number === position ? current : null}
            aria-current={frame.number === position ? 'step' : undefined}
          >
            <button type="button" onClick={() => onMove(frame.number)}>
              <span className={style.muted}>
                {frame.recorded ? clockTime(frame.recorded.time) : 'in between'}
              </span>
              <span className={style.move}>
                <code>{momentLabel(frame)}</code>
                {frame.after !== null && ` → ${stateText(frame.after)}`}
              </span>
              {frame.recorded && <span className={style.muted}>event {frame.recorded.seq}</span>}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
