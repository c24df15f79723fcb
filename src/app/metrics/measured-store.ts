import type { EventStore } from '../../ports/event-store.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { forwardingStore } from '../forwarding-store.ts';

/** Wraps the event log: records the duration of appends, and how many wait. */
export function measuredStore(store: EventStore, metrics: Metrics): EventStore {
  let waiting = 0;
  metrics.read('agent_appends_waiting', () => [{ labels: {}, value: waiting }]);
  return {
    ...forwardingStore(store),
    append(...append) {
      const begun = performance.now();
      waiting += 1;
      const appended = store.append(...append);
      appended.then(
        () => {
          waiting -= 1;
          metrics.observe('agent_append_duration_seconds', {}, (performance.now() - begun) / 1_000);
        },
        () => {
          waiting -= 1;
        },
      );
      return appended;
    },
  };
}
