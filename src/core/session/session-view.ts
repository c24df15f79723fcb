import { z } from 'zod';
import { ImageDescription } from '../conversation/image.ts';
import { CallId, SessionId, TurnId } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';

/** A session in the list of all. */
export const SessionListItem = z.object({
  sessionId: SessionId,
  status: z.enum(['idle', 'busy']).describe('`busy` while a turn is open.'),
  head: z.int().describe('seq of the last event.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type SessionListItem = z.infer<typeof SessionListItem>;

const calledTool = z.object({
  callId: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

const leftOut = z
  .literal(true)
  .optional()
  .describe('The model is not shown this any more: its provider refused a request with it.');

/** One message of the conversation. */
export const HistoryEntry = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.string(), image: ImageDescription.optional(), leftOut }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    reasoning: z
      .string()
      .optional()
      .describe('What the model thought aloud, where `llm.keepReasoning` is set.'),
    toolCalls: z.array(calledTool).readonly().optional(),
    cut: z
      .enum(['cancelled', 'failed'])
      .optional()
      .describe('The text ends where the turn was cancelled or failed.'),
    leftOut,
  }),
  z.object({ role: z.literal('tool'), callId: z.string(), name: z.string(), content: z.string(), leftOut }),
]);
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** A tool call that waits until somebody approves or denies it. */
export const PendingApproval = z.object({
  turnId: TurnId,
  callId: CallId,
  toolName: z.string(),
  serverId: z.string().nullable(),
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string().describe('To be sent back with the approval: it is for exactly these arguments.'),
});
export type PendingApproval = z.infer<typeof PendingApproval>;

/** A session at one moment. */
export const SessionView = SessionListItem.extend({
  at: z.int().describe('The moment: everything up to this seq.'),
  turns: z.object({
    requested: z.int(),
    completed: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    waiting: z.int(),
  }),
  toolCalls: z.int(),
  openTurnId: z.string().nullable().describe('The turn that is under way.'),
  approvals: z
    .array(PendingApproval)
    .describe('Tool calls that wait until somebody approves or denies them.'),
  history: z.array(HistoryEntry).describe('The conversation as the model reads it.'),
});
export type SessionView = z.infer<typeof SessionView>;

/** A session that began with the first `at` events of another one; `head` is the seq of its last event. */
export const Fork = z.object({ sessionId: SessionId, at: z.int(), head: z.int() });
export type Fork = z.infer<typeof Fork>;
