import { useMemo, useState } from 'react';
import { useFeed } from '../../service/use-session.ts';
import { activeIn, takenBy } from '../chart/active-states.ts';
import { eventLabel } from '../chart/chart.ts';
import type { Charts } from '../chart/use-chart.ts';
import { EventText } from '../event-text.tsx';
import type { Scene } from '../scene.ts';
import { StateText } from '../state-text.tsx';
import { LiveBar } from './live-bar.tsx';
import { momentOfMachine } from './live-moment.ts';
import { type Choice, chosenMachine } from './machine-history.ts';
import { MachinePicker } from './machine-picker.tsx';
import { RecentMoves } from './recent-moves.tsx';
import { useLastTurn } from './use-last-turn.ts';
import { useMachineHistory } from './use-machine-history.ts';

/**
 * The current state of a machine. Follows the turns of the session until another machine is chosen. The last turn
 * stays visible until the next one begins.
 */
export function useLiveScene(charts: Charts, onPlay: (turnId: string) => void): Scene {
  const { sessionId } = useFeed();
  const history = useMachineHistory();
  const [choice, setChoice] = useState<Choice>({ kind: 'follow' });
  const machine = chosenMachine(choice, history, sessionId);
  const last = useLastTurn(choice.kind === 'follow' && machine?.state.status !== 'active');
  const moment = useMemo(() => {
    const shown = machine ? momentOfMachine(machine) : null;
    // While the page was hidden, a machine may have come and gone. The log has its turn.
    return shown && (last === null || last.turnId === shown.turnId) ? shown : last;
  }, [machine, last]);
  const chart = charts[choice.kind === 'machine' ? choice.machine : 'turn'];
  const lit = useMemo(
    () => ({
      active: moment ? activeIn(chart.id, moment.after) : [],
      taken: moment ? takenBy(chart, moment) : [],
    }),
    [chart, moment],
  );
  return {
    chart,
    lit,
    bar: <LiveBar moment={moment} isFollowing={choice.kind === 'follow'} onPlay={onPlay} />,
    side: (
      <>
        <MachinePicker history={history} choice={choice} sessionId={sessionId} onChoose={setChoice} />
        <StateText
          chart={chart}
          value={moment?.after ?? null}
          event={moment?.event == null ? 'none seen yet' : <EventText label={eventLabel(moment.event)} />}
          context={moment?.context ?? null}
        />
        <RecentMoves moves={history.moves} />
      </>
    ),
  };
}
