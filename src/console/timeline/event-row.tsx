import { memo } from 'react';
import type { TimedEvent } from '../service/timed-event.ts';
import { clockTime, span } from '../ui/time.ts';
import { kindOf, summaryOf } from './event-words.ts';
import style from './timeline.module.css';

interface EventRowProps {
  readonly id: string;
  readonly event: TimedEvent;
  readonly sinceMs: number | null;
  readonly top: number;
  readonly isChosen: boolean;
  readonly onChoose: (seq: number) => void;
}

export const EventRow = memo(function EventRow({
  id,
  event,
  sinceMs,
  top,
  isChosen,
  onChoose,
}: EventRowProps) {
  const { seq, time } = event;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active option
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className={style.row}
      data-kind={kindOf(event)}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onChoose(seq)}
    >
      <span className={style.seq}>{seq}</span>
      <span className={style.name}>{event.event}</span>
      <span className={style.summary}>{summaryOf(event)}</span>
      <time dateTime={time} title={time}>
        {clockTime(time)}
        {sinceMs !== null && <small>+{span(sinceMs)}</small>}
      </time>
    </div>
  );
});

/** A pause between two events. */
export const GapRow = memo(function GapRow({ ms, top }: { readonly ms: number; readonly top: number }) {
  return (
    <div className={style.gap} role="presentation" style={{ transform: `translateY(${top}px)` }}>
      <span>{span(ms)} later</span>
    </div>
  );
});
