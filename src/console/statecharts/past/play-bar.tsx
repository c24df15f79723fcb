import { useEffect, useRef } from 'react';
import { isBrowsers } from '../../ui/browser-keys.ts';
import { Button } from '../../ui/button.tsx';
import { Segments } from '../../ui/segments.tsx';
import style from '../statecharts.module.css';
import { type Playback, speeds } from './use-playback.ts';

interface PlayBarProps {
  readonly playback: Playback;
  readonly count: number;
  readonly label: string;
}

const choices = speeds.map((speed) => ({ value: speed, name: `${speed}×` }));

/** Plays a turn, and goes through its moments: by the slider, its arrow keys, the buttons, or the keys , and . */
export function PlayBar({ playback, count, label }: PlayBarProps) {
  const { position, isPlaying, speed, setSpeed, toggle, moveTo } = playback;
  usePlayKeys(playback);
  return (
    <div className={style.bar}>
      <Button kind="primary" className={style.play ?? ''} title="Space" onClick={toggle}>
        {isPlaying ? 'Pause' : 'Play'}
      </Button>
      <Button disabled={position === 0} title="Comma" onClick={() => moveTo(position - 1)}>
        Prev
      </Button>
      <Button disabled={position >= count - 1} title="Full stop" onClick={() => moveTo(position + 1)}>
        Next
      </Button>
      <Segments label="Speed" choices={choices} chosen={speed} onChoose={setSpeed} />
      <input
        type="range"
        aria-label="Moment of the turn"
        aria-valuetext={`${position + 1} of ${count}: ${label}`}
        min={0}
        max={count - 1}
        value={position}
        onChange={({ target }) => moveTo(Number(target.value))}
      />
      <span className={style.count}>
        {position + 1} / {count}
      </span>
    </div>
  );
}

/** Space plays and pauses, comma and full stop go one moment back and on, wherever nothing is being typed. */
function usePlayKeys(playback: Playback): void {
  const latest = useRef(playback);
  useEffect(() => {
    latest.current = playback;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { position, toggle, moveTo } = latest.current;
      const target = event.target instanceof Element ? event.target : null;
      if (isBrowsers(event) || document.querySelector('dialog[open]')) return;
      if (target?.closest('input:not([type="range"]), textarea, select')) return;
      if (event.key === ' ' && !target?.closest('a, button, label, summary')) toggle();
      else if (event.key === ',') moveTo(position - 1);
      else if (event.key === '.') moveTo(position + 1);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
