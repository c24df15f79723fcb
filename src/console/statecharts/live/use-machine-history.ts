import { useEffect, useState } from 'react';
import { useMachinesFeed } from '../../service/use-machines.ts';
import { type HistorySnapshot, MachineHistory } from './machine-history.ts';

/** The moves of the machines since the panel was opened, updated at most once per animation frame. */
export function useMachineHistory(): HistorySnapshot {
  const feed = useMachinesFeed();
  const [snapshot, setSnapshot] = useState<HistorySnapshot>({ machines: new Map(), moves: [] });
  useEffect(() => {
    const history = new MachineHistory(feed.snapshot().machines.values());
    let frame = 0;
    const show = () => {
      frame = 0;
      setSnapshot(history.snapshot);
    };
    show();
    const showSoon = () => {
      if (frame === 0) frame = requestAnimationFrame(show);
    };
    const stop = feed.listen({
      onOpened: () => {
        history.forgetRunning();
        showSoon();
      },
      onState: (state, isMove) => {
        history.take(state, isMove);
        showSoon();
      },
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [feed]);
  return snapshot;
}
