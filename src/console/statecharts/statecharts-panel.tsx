import { useState } from 'react';
import { adjust, useLocation } from '../app/location.ts';
import { useFeedSnapshot } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { PanelHeader } from '../ui/panel-header.tsx';
import { Segments } from '../ui/segments.tsx';
import { ChartView } from './chart/chart-view.tsx';
import { useCharts } from './chart/use-chart.ts';
import { useLiveScene } from './live/use-live-scene.tsx';
import { runningTurn } from './past/past-turns.ts';
import { usePastScene } from './past/use-past-scene.tsx';
import style from './statecharts.module.css';

const modes = [
  { value: 'live', name: 'Live' },
  { value: 'past', name: 'Past turn' },
] as const;

/**
 * The state machines of the service, drawn from their definitions: as they run now, or as a past turn ran. A turn
 * that was chosen elsewhere is shown as a past turn, unless it still runs.
 */
export function StatechartsPanel() {
  const { turnId, seq } = useLocation();
  const { events } = useFeedSnapshot();
  const [wantsPast, setWantsPast] = useState(false);
  const [played, setPlayed] = useState<string | null>(null);
  const running = runningTurn(events);
  const isChosenOver = turnId !== undefined && (turnId !== running || seq !== undefined);
  const isPast = wantsPast || isChosenOver;
  const play = (chosen: string) => {
    setPlayed(chosen);
    adjust({ turnId: chosen, seq: undefined });
  };
  const change = (mode: 'live' | 'past') => {
    setWantsPast(mode === 'past');
    setPlayed(null);
    if (mode === 'live') adjust({ turnId: undefined, seq: undefined });
  };
  const charts = useCharts();
  const live = useLiveScene(charts, play);
  const past = usePastScene(charts.turn, { isShown: isPast, played });
  const { chart, lit, bar, side } = isPast ? past : live;
  return (
    <>
      <PanelHeader title="Statecharts">
        {isPast && running !== undefined && <Badge tone="accent">a turn runs</Badge>}
        <Segments label="Time" choices={modes} chosen={isPast ? 'past' : 'live'} onChoose={change} />
      </PanelHeader>
      <div className={style.split}>
        <div className={style.stage}>
          <ChartView chart={chart} lit={lit} />
          {bar}
        </div>
        <aside className={style.side} aria-label="The machine in words">
          {side}
        </aside>
      </div>
    </>
  );
}
