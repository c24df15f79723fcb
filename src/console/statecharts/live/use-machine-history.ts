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
    const stop = feed.onState((state, isMove) => {
      history.take(state, isMove);
      if (frame === 0) frame = requestAnimationFrame(show);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [feed]);
  return snapshot;
}
