import { Button } from '../../ui/button.tsx';
import style from '../statecharts.module.css';

interface ScrubberProps {
  /** From 0. */
  readonly position: number;
  readonly count: number;
  readonly label: string;
  readonly onMove: (position: number) => void;
}

/** Goes through the moments of a turn: by the slider, its arrow keys, or the buttons. */
export function Scrubber({ position, count, label, onMove }: ScrubberProps) {
  return (
    <div className={style.scrubber}>
      <Button disabled={position === 0} onClick={() => onMove(position - 1)}>
        Prev
      </Button>
      <input
        type="range"
        aria-label="Moment of the turn"
        aria-valuetext={`${position + 1} of ${count}: ${label}`}
        min={0}
        max={count - 1}
        value={position}
        onChange={({ target }) => onMove(Number(target.value))}
      />
      <Button disabled={position >= count - 1} onClick={() => onMove(position + 1)}>
        Next
      </Button>
      <span>
        {position + 1} / {count}
      </span>
    </div>
  );
}
