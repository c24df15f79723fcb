import { z } from 'zod';
import { SessionId } from './ids.ts';

/** The state of a machine, as XState names it. */
export type StateValue = string | { readonly [state: string]: StateValue };

export const StateValue: z.ZodType<StateValue> = z
  .union([
    z.string(),
    z.record(
      z.string(),
      z.lazy(() => StateValue),
    ),
  ])
  .meta({
    id: 'StateValue',
    description: 'The name of the current state, or an object from its name to its current inner state.',
  });

/** The current state of a running machine. It holds no message content, and only the type of the event. */
export const MachineState = z.object({
  id: z.string().describe('Id of the machine, unique while it runs.'),
  machine: z.enum(['turn', 'mcp-server']),
  sessionId: SessionId.optional().describe('The session of a turn; absent for a tool server.'),
  value: StateValue,
  context: z.record(z.string(), z.unknown()),
  event: z
    .string()
    .nullable()
    .describe('Type of the event that led here; null in the first report and in `stopped`.'),
  status: z
    .enum(['active', 'done', 'stopped'])
    .describe(
      '`done` in a final state; `stopped` if the machine was ended in another. Nothing follows either.',
    ),
  /** ISO 8601 UTC. */
  time: z.string(),
});
export type MachineState = z.infer<typeof MachineState>;
