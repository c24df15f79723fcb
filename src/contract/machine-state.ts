import { z } from 'zod';
import { SessionId } from './ids.ts';

export type StateValue = string | { readonly [state: string]: StateValue };

const StateValue: z.ZodType<StateValue> = z.union([
  z.string(),
  z.record(
    z.string(),
    z.lazy(() => StateValue),
  ),
]);

/** Where a running machine is. Holds no message content: contexts are ids and counts, events are their types. */
export const MachineState = z.object({
  /** Unique while the machine runs. */
  id: z.string(),
  machine: z.enum(['turn', 'mcp-server']),
  /** Of a turn. */
  sessionId: SessionId.optional(),
  value: StateValue,
  context: z.record(z.string(), z.unknown()),
  /** Type of the event that led here; null for what is told first. */
  event: z.string().nullable(),
  /** `done` in a final state, `stopped` when it was ended without one. Nothing follows then. */
  status: z.enum(['active', 'done', 'stopped']),
  /** ISO 8601 UTC. */
  time: z.string(),
});
export type MachineState = z.infer<typeof MachineState>;
