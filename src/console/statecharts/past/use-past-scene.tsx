import { useMemo } from 'react';
import { useLocation } from '../../app/location.ts';
import { useFeedSnapshot } from '../../service/use-session.ts';
import { activeIn, takenBy } from '../chart/active-states.ts';
import type { Chart } from '../chart/chart.ts';
import { EventText } from '../event-text.tsx';
import type { Scene } from '../scene.ts';
import { StateText } from '../state-text.tsx';
import { turnsIn } from './past-turns.ts';
import { PlayBar } from './play-bar.tsx';
import { ReplayMoments } from './replay-moments.tsx';
import { TurnChooser } from './turn-chooser.tsx';
import { momentLabel, type ReplayFrame, replayTurn } from './turn-replay.ts';
import { usePlayback } from './use-playback.ts';

interface PastOptions {
  /** A scene that is not shown replays nothing. */
  readonly isShown: boolean;
  /** Id of the turn that is played from its beginning as soon as it is shown. */
  readonly played: string | null;
}

/** A past turn, moment by moment. The turn machine itself replays the events of the log. */
export function usePastScene(chart: Chart, { isShown, played }: PastOptions): Scene {
  const { events } = useFeedSnapshot();
  const { turnId, seq } = useLocation();
  const turns = useMemo(() => (isShown ? turnsIn(events) : []), [isShown, events]);
  const turn = turnId === undefined ? turns[0] : turns.find((candidate) => candidate.turnId === turnId);
  const frames = useMemo(() => (turn ? replayTurn(turn.turnId, turn.events) : []), [turn]);
  const playback = usePlayback(frames, {
    key: `${turn?.turnId} ${seq} ${played}`,
    at: frameOf(frames, seq),
    plays: turn !== undefined && played === turn.turnId,
  });
  const frame = frames[playback.position];
  const lit = useMemo(
    () => ({
      active: frame?.after == null ? [] : activeIn(chart.id, frame.after),
      taken: frame ? takenIn(chart, frame) : [],
    }),
    [chart, frame],
  );
  return {
    chart,
    lit,
    bar: frame && <PlayBar playback={playback} count={frames.length} label={momentLabel(frame)} />,
    side: (
      <>
        <TurnChooser turns={turns} chosen={turn} />
        {frame && (
          <>
            <StateText
              chart={chart}
              value={frame.after}
              event={<LastEvent frame={frame} />}
              context={frame.context && { ...frame.context }}
            />
            <ReplayMoments frames={frames} position={playback.position} onMove={playback.moveTo} />
          </>
        )}
      </>
    ),
  };
}

/** Index of the frame after that event; null for the end of the turn. */
function frameOf(frames: readonly ReplayFrame[], seq: number | undefined): number | null {
  if (seq === undefined) return null;
  const index = frames.findLastIndex(({ recorded }) => recorded !== null && recorded.seq <= seq);
  return index === -1 ? null : index;
}

function LastEvent({ frame }: { readonly frame: ReplayFrame }) {
  return (
    <>
      <EventText label={momentLabel(frame)} />
      {frame.event === null && ' The log has it, but it does not move the machine.'}
    </>
  );
}

function takenIn(chart: Chart, { before, event, after }: ReplayFrame): string[] {
  return event === null || after === null ? [] : takenBy(chart, { before, event, after });
}
