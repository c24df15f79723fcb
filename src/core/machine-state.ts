import { z } from 'zod';
import { SessionId } from './ids.ts';

export type StateValue = string | { readonly [state: string]: StateValue };

export const StateValue: z.ZodType<StateValue> = z
  .union([
    z.string(),
    z.record(
      z.string(),
      z.lazy(() => StateValue),
    ),
  ])
  .describe('The state; of one with inner states an object that names them.');

/** Where a running machine is. Holds no message content: contexts are ids and counts, events are their types. */
export const MachineState = z.object({
  id: z.string().describe('Unique while the machine runs.'),
  machine: z.enum(['turn', 'mcp-server']),
  sessionId: SessionId.optional().describe('Of a turn.'),
  value: StateValue,
  context: z.record(z.string(), z.unknown()),
  event: z.string().nullable().describe('Type of the event that led here; null for what is told first.'),
  status: z
    .enum(['active', 'done', 'stopped'])
    .describe('`done` in a final state, `stopped` when it was ended without one. Nothing follows then.'),
  /** ISO 8601 UTC. */
  time: z.string(),
});
export type MachineState = z.infer<typeof MachineState>;
