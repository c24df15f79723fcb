import { ticksBetween } from './time-scale.ts';
import style from './waterfall.module.css';

interface RulerProps {
  readonly labelWidth: number;
  readonly scroll: { readonly left: number; readonly width: number };
  readonly pixelsPerMs: number;
}

const MIN_DISTANCE = 84;

/** The time since the beginning of each turn. */
export function Ruler({ labelWidth, scroll, pixelsPerMs }: RulerProps) {
  const fromMs = scroll.left / pixelsPerMs;
  const toMs = (scroll.left + scroll.width) / pixelsPerMs;
  return (
    <div className={style.ruler} aria-hidden="true">
      <span className={style.corner} style={{ width: labelWidth }}>
        elapsed
      </span>
      <div className={style.ticks}>
        {ticksBetween(fromMs, toMs, MIN_DISTANCE / pixelsPerMs).map(({ ms, label }) => (
          <span key={ms} style={{ left: ms * pixelsPerMs - scroll.left }}>
            {label}
          </span>
        ))}
      </div>
    </div>
  );
}
