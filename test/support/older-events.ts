import { type EventCodec, eventCodec } from '../../src/core/log/event-codec.ts';
import type { Upcaster } from '../../src/core/log/upcasters.ts';

/** An invented past: in version 1 a turn was begun, in version 2 it was known by its `id`. */
const invented: readonly Upcaster[] = [
  (event) => (event.type === 'turn.begun' ? { ...event, type: 'turn.started' } : { ...event }),
  (event) => {
    const { id, ...others } = event;
    return id === undefined ? others : { ...others, turnId: id };
  },
];

/** The codec of the version, as if the schemas of today were those of version 3. */
export function codecOfVersion(version: 1 | 2 | 3): EventCodec {
  return eventCodec(invented.slice(0, version - 1));
}

/** The same event as each version had it. */
export const startedIn = {
  1: { type: 'turn.begun', id: 't' },
  2: { type: 'turn.started', id: 't' },
  3: { type: 'turn.started', turnId: 't' },
} as const;
