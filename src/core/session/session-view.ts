import { z } from 'zod';
import { GrantAccess } from '../access/grant.ts';
import { ImageDescription } from '../conversation/image.ts';
import { CallId, SessionId, TurnId } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';
import { InputId, InputQuestion } from '../tool-call/input-events.ts';
import { SessionMetadata } from './session-metadata.ts';

const WaitingApprovals = z.object({
  count: z.int().min(1),
  since: Timestamp.describe('When the oldest of them was asked for.'),
});

/** A session in the list of sessions. */
export const SessionListItem = z.object({
  sessionId: SessionId,
  title: z
    .string()
    .optional()
    .describe('As a client named the session, or from its first message; absent before that.'),
  status: z.enum(['idle', 'busy']).describe('`busy` while a turn is open.'),
  head: z.int().describe('The seq of the last event of the session.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  waitingApprovals: WaitingApprovals.optional().describe(
    'Tool calls that wait for approval; absent if there are none.',
  ),
  access: z
    .array(GrantAccess)
    .readonly()
    .optional()
    .describe('What you may do in a session that somebody shares with you; absent for all others.'),
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
  .describe('The model is no longer shown this message, because its provider refused a request with it.');

/** One message of the conversation. */
export const HistoryEntry = z.discriminatedUnion('role', [
  z.object({
    role: z.literal('user'),
    content: z.string(),
    image: ImageDescription.optional(),
    correction: z
      .literal(true)
      .optional()
      .describe('Not from the user: the service tells the model why its reply does not fit the schema.'),
    leftOut,
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    reasoning: z.string().optional().describe('The reasoning of the model, if `llm.keepReasoning` is set.'),
    toolCalls: z.array(calledTool).readonly().optional(),
    cut: z
      .enum(['cancelled', 'failed'])
      .optional()
      .describe('Present if the turn was cancelled or failed in the middle of this text.'),
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
  argumentsHash: z
    .string()
    .describe('Hash of the arguments. Send it with the approval, which then is for these arguments only.'),
  since: Timestamp.describe('When the approval was asked for.'),
  expiresAt: Timestamp.optional().describe(
    'When the call is denied if nobody has answered; absent if it waits for ever.',
  ),
});
export type PendingApproval = z.infer<typeof PendingApproval>;

/** A tool call that waits until the client that lent the tool says what came of it. */
export const ClientCall = z.object({
  turnId: TurnId,
  callId: CallId,
  toolName: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  since: Timestamp.describe('When the model asked for it.'),
  expiresAt: Timestamp.optional().describe('When the call fails if the client has not answered.'),
});
export type ClientCall = z.infer<typeof ClientCall>;

/** What a tool server asks while it works on a call, and nobody has answered. */
export const PendingInput = z.object({
  turnId: TurnId,
  callId: CallId,
  toolName: z.string(),
  serverId: z.string().nullable(),
  inputId: InputId,
  message: z.string().describe('The question, for people.'),
  question: InputQuestion,
  since: Timestamp.describe('When the server asked.'),
  expiresAt: Timestamp.optional().describe(
    'When the question ends if nobody has answered; absent if it waits for ever.',
  ),
});
export type PendingInput = z.infer<typeof PendingInput>;

/** A tool call that waits for approval, in any session. */
export const WaitingApproval = PendingApproval.extend({ sessionId: SessionId });
export type WaitingApproval = z.infer<typeof WaitingApproval>;

/** What a tool server asks, in any session. */
export const WaitingInput = PendingInput.extend({ sessionId: SessionId });
export type WaitingInput = z.infer<typeof WaitingInput>;

/** A session as it was right after one of its events. */
export const SessionView = SessionListItem.extend({
  at: z.int().describe('The seq of the last event that is included.'),
  turns: z.object({
    requested: z.int(),
    completed: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    waiting: z.int(),
  }),
  toolCalls: z.int(),
  openTurnId: z.string().nullable().describe('The turn that is open; null if there is none.'),
  approvals: z.array(PendingApproval).describe('The tool calls that wait for approval.'),
  metadata: SessionMetadata.optional().describe(
    'What a client has noted about the session; absent if none has.',
  ),
  clientCalls: z
    .array(ClientCall)
    .optional()
    .describe('The calls of tools that the client has lent, which wait for it; absent if there are none.'),
  inputs: z
    .array(PendingInput)
    .optional()
    .describe('What tool servers ask, which waits for an answer; absent if there is nothing.'),
  history: z.array(HistoryEntry).describe('The messages since the last reset, oldest first.'),
});
export type SessionView = z.infer<typeof SessionView>;
