import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { clockTime } from '../../ui/time.ts';
import { stateText } from '../chart/active-states.ts';
import style from '../statecharts.module.css';
import type { LiveMoment } from './live-moment.ts';

interface LiveBarProps {
  readonly moment: LiveMoment | null;
  /** Whether the chart shows the turns of the session, and not one certain machine. */
  readonly isFollowing: boolean;
  readonly onPlay: (turnId: string) => void;
}

/** Says below the chart whether the machine runs, or when and how it ended. */
export function LiveBar({ moment, isFollowing, onPlay }: LiveBarProps) {
  if (!moment)
    return (
      <div className={style.bar}>
        <p className={style.muted}>
          {isFollowing ? 'No turn of this session has begun yet.' : 'This machine does not run.'}
        </p>
      </div>
    );
  const { isOver, after, time, turnId } = moment;
  if (!isOver)
    return (
      <div className={style.bar}>
        <Badge tone="accent">runs</Badge>
        <p className={style.muted}>{stateText(after)}</p>
      </div>
    );
  return (
    <div className={style.bar}>
      <Badge>finished</Badge>
      <p className={style.muted}>
        {stateText(after)} at {clockTime(time)}
        {isFollowing && '. The chart stays like this until the next turn begins.'}
      </p>
      {turnId !== undefined && <Button onClick={() => onPlay(turnId)}>Play it back</Button>}
    </div>
  );
}
