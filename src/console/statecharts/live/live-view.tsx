import { useMemo, useState } from 'react';
import { useFeed } from '../../service/use-session.ts';
import { activeIn, takenBy } from '../chart/active-states.ts';
import { eventLabel } from '../chart/chart.ts';
import { ChartView } from '../chart/chart-view.tsx';
import { useChart } from '../chart/use-chart.ts';
import { StateText } from '../state-text.tsx';
import style from '../statecharts.module.css';
import { type Choice, chosenMachine } from './machine-history.ts';
import { MachinePicker } from './machine-picker.tsx';
import { RecentMoves } from './recent-moves.tsx';
import { useMachineHistory } from './use-machine-history.ts';

/** The current state of a machine. Follows the turns of the session until another machine is chosen. */
export function LiveView() {
  const { sessionId } = useFeed();
  const history = useMachineHistory();
  const [choice, setChoice] = useState<Choice>({ kind: 'follow' });
  const shown = chosenMachine(choice, history, sessionId);
  const chart = useChart(choice.kind === 'machine' ? choice.machine : 'turn');
  const lit = useMemo(
    () => ({
      active: shown ? activeIn(chart.id, shown.after) : [],
      taken: shown ? takenBy(chart, shown) : [],
    }),
    [chart, shown],
  );
  return (
    <div className={style.split}>
      <ChartView chart={chart} lit={lit} />
      <aside className={style.side} aria-label="The machine in words">
        <MachinePicker history={history} choice={choice} onChoose={setChoice} />
        <StateText
          chart={chart}
          value={shown?.after ?? null}
          event={shown?.event == null ? 'none seen yet' : <code>{eventLabel(shown.event)}</code>}
          context={shown?.state.context ?? null}
        />
        <RecentMoves moves={history.moves} />
      </aside>
    </div>
  );
}
