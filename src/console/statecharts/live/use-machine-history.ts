import { useEffect, useState } from 'react';
import { useMachinesFeed } from '../../service/use-machines.ts';
import { type HistorySnapshot, MachineHistory } from './machine-history.ts';

/** What the machines did since the panel was opened; told once a frame of the display. */
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
    const stop = feed.onState((state) => {
      history.take(state);
      if (frame === 0) frame = requestAnimationFrame(show);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [feed]);
  return snapshot;
}
