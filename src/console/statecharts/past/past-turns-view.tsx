import { useId, useMemo, useState } from 'react';
import { errorText } from '../../service/api.ts';
import { useFeed, useFeedSnapshot } from '../../service/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { clockTime } from '../../ui/time.ts';
import { activeIn, takenBy } from '../chart/active-states.ts';
import { ChartView } from '../chart/chart-view.tsx';
import { useChart } from '../chart/use-chart.ts';
import { StateText } from '../state-text.tsx';
import style from '../statecharts.module.css';
import { type PastTurn, turnsIn } from './past-turns.ts';
import { ReplayMoments } from './replay-moments.tsx';
import { Scrubber } from './scrubber.tsx';
import { momentLabel, type ReplayFrame, replayTurn } from './turn-replay.ts';

/** A past turn, moment by moment. The turn machine itself replays the events of the log. */
export function PastTurnsView() {
  const feed = useFeed();
  const chooserId = useId();
  const loadEarlier = () => void feed.loadEarlier().catch((error: unknown) => feed.notify(errorText(error)));
  const { events, status } = useFeedSnapshot();
  const turns = useMemo(() => turnsIn(events), [events]);
  const [turnId, setTurnId] = useState<string | null>(null);
  const turn = turns.find((candidate) => candidate.turnId === turnId) ?? turns[0];
  if (!turn) {
    const text = status === 'loading' ? 'Loading…' : 'No turn of this session has begun yet.';
    return <p className={style.empty}>{text}</p>;
  }
  return (
    <Replay key={turn.turnId} turn={turn}>
      <div className={style.chooser}>
        <label htmlFor={chooserId}>Turn</label>
        <select id={chooserId} value={turn.turnId} onChange={({ target }) => setTurnId(target.value)}>
          {turns.map(({ turnId: id, message, requestedAt }) => (
            <option key={id} value={id}>
              {clockTime(requestedAt)} {message.slice(0, 60)}
            </option>
          ))}
        </select>
        {feed.hasEarlier && (
          <Button kind="quiet" onClick={loadEarlier}>
            Load earlier turns
          </Button>
        )}
      </div>
    </Replay>
  );
}

interface ReplayProps {
  readonly turn: PastTurn;
  readonly children: React.ReactNode;
}

function Replay({ turn, children }: ReplayProps) {
  const frames = useMemo(() => replayTurn(turn.turnId, turn.events), [turn]);
  const [wanted, setWanted] = useState(0);
  const position = Math.min(wanted, frames.length - 1);
  const frame = frames[position];
  const chart = useChart('turn');
  const lit = useMemo(
    () => ({
      active: frame?.after == null ? [] : activeIn(chart.id, frame.after),
      taken: frame ? takenIn(chart, frame) : [],
    }),
    [chart, frame],
  );
  if (!frame) return null;
  return (
    <div className={style.split}>
      <div className={style.stage}>
        <ChartView chart={chart} lit={lit} />
        <Scrubber position={position} count={frames.length} label={momentLabel(frame)} onMove={setWanted} />
      </div>
      <aside className={style.side} aria-label="The turn in words">
        {children}
        <StateText
          chart={chart}
          value={frame.after}
          event={<LastEvent frame={frame} />}
          context={frame.context && { ...frame.context }}
        />
        <ReplayMoments frames={frames} position={position} onMove={setWanted} />
      </aside>
    </div>
  );
}

function LastEvent({ frame }: { readonly frame: ReplayFrame }) {
  return (
    <>
      <code>{momentLabel(frame)}</code>
      {frame.event === null && ', which the machine does not receive'}
    </>
  );
}

function takenIn(chart: Parameters<typeof takenBy>[0], { before, event, after }: ReplayFrame): string[] {
  return event === null || after === null ? [] : takenBy(chart, { before, event, after });
}
