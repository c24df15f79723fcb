import type { EventStore } from '../ports/event-store.ts';

/** Passes everything on to the store. Whoever wraps a store spreads this, and adds the methods in which it differs. */
export function forwardingStore(store: EventStore): EventStore {
  return {
    append: (...args) => store.append(...args),
    read: (...args) => store.read(...args),
    pages: (...args) => store.pages(...args),
    sessions: (...args) => store.sessions(...args),
    streamIds: (...args) => store.streamIds(...args),
    fork: (...args) => store.fork(...args),
    adopt: (...args) => store.adopt(...args),
    erase: (...args) => store.erase(...args),
    announce: async (...args) => store.announce?.(...args),
    size: () => store.size(),
    probe: () => store.probe(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
