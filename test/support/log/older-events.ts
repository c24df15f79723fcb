import { type EventCodec, eventCodec } from '../../../src/core/log/event-codec.ts';
import type { Upcaster } from '../../../src/core/log/upcaster.ts';

/** An invented past: in version 1 of `turn.started` a turn was known by its `id`, in version 2 by its `turn`. */
const invented: readonly Upcaster[] = [
  ({ id, ...others }) => ({ ...others, turn: id }),
  ({ turn, ...others }) => ({ ...others, turnId: turn }),
];

/** The codec of that version, as if the schema of today were that of version 3. */
export function codecOfVersion(version: 1 | 2 | 3): EventCodec {
  return eventCodec({ 'turn.started': invented.slice(0, version - 1) });
}

/** The same event as each version had it. */
export const startedIn = {
  1: { type: 'turn.started', id: 't' },
  2: { type: 'turn.started', turn: 't' },
  3: { type: 'turn.started', turnId: 't' },
} as const;
