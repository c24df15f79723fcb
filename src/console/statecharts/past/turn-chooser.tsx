import { useId } from 'react';
import { adjust } from '../../app/location.ts';
import { useFeed, useFeedSnapshot } from '../../service/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { clockTime } from '../../ui/time.ts';
import style from '../statecharts.module.css';
import type { PastTurn } from './past-turns.ts';

interface TurnChooserProps {
  readonly turns: readonly PastTurn[];
  readonly chosen: PastTurn | undefined;
}

/** Chooses a turn of the session. */
export function TurnChooser({ turns, chosen }: TurnChooserProps) {
  const feed = useFeed();
  const { status } = useFeedSnapshot();
  const id = useId();
  if (turns.length === 0) {
    const text = status === 'loading' ? 'Loading…' : 'No turn of this session has begun yet.';
    return <p className={style.empty}>{text}</p>;
  }
  return (
    <div className={style.chooser}>
      <label htmlFor={id}>Turn</label>
      <select
        id={id}
        value={chosen?.turnId ?? ''}
        onChange={({ target }) => adjust({ turnId: target.value, seq: undefined })}
      >
        {!chosen && <option value="">not loaded, or waiting for its turn</option>}
        {turns.map(({ turnId, message, requestedAt }) => (
          <option key={turnId} value={turnId}>
            {clockTime(requestedAt)} {message.slice(0, 60)}
          </option>
        ))}
      </select>
      {feed.hasEarlier && (
        <Button kind="quiet" onClick={() => feed.loadEarlier()}>
          Load earlier turns
        </Button>
      )}
    </div>
  );
}
