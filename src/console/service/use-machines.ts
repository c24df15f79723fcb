import { createContext, useContext, useSyncExternalStore } from 'react';
import type { MachinesFeed, MachinesSnapshot } from './machines-feed.ts';

export const MachinesContext = createContext<MachinesFeed | null>(null);

export function useMachinesFeed(): MachinesFeed {
  const feed = useContext(MachinesContext);
  if (!feed) throw new Error('there is no MachinesContext around this component');
  return feed;
}

export function useMachines(): MachinesSnapshot {
  const feed = useMachinesFeed();
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}
