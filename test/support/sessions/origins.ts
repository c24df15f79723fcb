import type { Origin } from '../../../src/core/log/event-metadata.ts';

/** A request of a client, which nobody has authenticated. */
export const CLIENT: Origin = { actor: { kind: 'client' }, causationId: 'a-request' };
