import { forwardingStore } from '../../../src/app/forwarding-store.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { WatchedStore } from './watched-store.ts';

export interface Boundary {
  /** The first append is 1. */
  readonly append: number;
  /** Whether its events are in the log. */
  readonly when: 'before' | 'after';
}

/**
 * What a process that crashes at the boundary sees of a log: from there on it appends nothing, for ever. The
 * log itself stays, also when the store is closed.
 */
export function crashingStore(
  log: EventStore,
  { append, when }: Boundary,
): { store: EventStore; crashed: () => boolean } {
  const store = new WatchedStore(keptOpen(log));
  let appends = 0;
  let isDown = false;
  const crash = (): never => {
    isDown = true;
    throw new Error('the process has crashed');
  };
  store.beforeAppend = async () => {
    appends += 1;
    if (isDown || (when === 'before' && appends >= append)) crash();
  };
  store.afterAppend = async () => {
    if (appends >= append) crash();
  };
  return { store, crashed: () => isDown };
}

/** The log for one process of several, one after the other. */
export function keptOpen(log: EventStore): EventStore {
  return { ...forwardingStore(log), [Symbol.asyncDispose]: async () => undefined };
}
