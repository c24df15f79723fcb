import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RecordedTurn } from '../turns/recorded-turn.ts';
import type { Message } from './a2a-objects.ts';
import type { AskedFor } from './task-messages.ts';

/** The decision about a tool call that a task waits for. */
export interface ApprovalDecision {
  readonly callId: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
  /** Present if only a call with these arguments is meant. */
  readonly argumentsHash?: string | undefined;
}

const Decision = z.object({
  approve: z.boolean(),
  callId: z.string().optional(),
  reason: z.string().optional(),
  argumentsHash: z.string().optional(),
});
type Decision = z.infer<typeof Decision>;

const WORDS: Readonly<Record<string, boolean>> = { approve: true, deny: false };

/** What a message answers to the calls that its task waits for. Throws if it answers none of them. */
export function approvalDecision({ parts }: Message, asked: readonly AskedFor[]): ApprovalDecision {
  const waiting = asked.flatMap(({ call }) => (call.type === 'approval.requested' ? [call.callId] : []));
  if (waiting.length === 0) throw noApproval(asked);
  const decisions = parts.map(decisionIn).filter((decision) => decision !== null);
  const [decision, ...others] = decisions;
  if (!decision || others.length > 0) throw noDecision(waiting);
  const { approve: approved, callId, reason, argumentsHash } = decision;
  if (callId !== undefined && !waiting.includes(callId)) throw notWaiting(callId, waiting);
  const meant = callId ?? (waiting.length === 1 ? waiting[0] : undefined);
  if (meant === undefined) throw severalWait(waiting);
  return { callId: meant, approved, reason, argumentsHash };
}

/**
 * Whether the message was sent before, and the log has its decision.
 * @param isSent whether the message that was sent before has caused the event.
 */
export function isAnswered(
  { requested: { turnId }, since }: RecordedTurn,
  { parts }: Message,
  isSent: (envelope: Envelope) => boolean,
): boolean {
  return since.some((envelope) => {
    const { event } = envelope;
    const isDecision = event.type === 'approval.granted' || event.type === 'tool-call.failed';
    if (!isDecision || event.turnId !== turnId || !isSent(envelope)) return false;
    const approve = event.type === 'approval.granted';
    return parts.map(decisionIn).some((decision) => decision?.approve === approve);
  });
}

function decisionIn({ text, data }: Message['parts'][number]): Decision | null {
  if (text === undefined) return Decision.safeParse(data).data ?? null;
  const approve = WORDS[text.trim().toLowerCase()];
  return approve === undefined ? null : { approve };
}

const SUGGESTION =
  'Send one part: the text approve or deny, or the data {"approve": true, "callId": "…", "argumentsHash": "…", "reason": "…"}.';

function noDecision(waiting: readonly string[]): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The task waits for an approval, and the message is none.', {
    field: 'message.parts',
    issue: 'it has not exactly one decision',
    waiting,
    suggestion: SUGGESTION,
  });
}

function severalWait(waiting: readonly string[]): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The task waits for several approvals.', {
    field: 'message.parts',
    issue: 'it does not say for which call it is',
    waiting,
    suggestion: SUGGESTION,
  });
}

function notWaiting(callId: string, waiting: readonly string[]): ServiceError {
  return new ServiceError('INVALID_REQUEST', `No call ${callId} of the task waits for approval.`, {
    field: 'message.parts',
    issue: 'its callId is of no call that waits',
    waiting,
  });
}

function noApproval(asked: readonly AskedFor[]): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The task waits for the client that lent a tool to it.', {
    field: 'message.taskId',
    issue: `the calls ${asked.map(({ call }) => call.callId).join(', ')} cannot be answered here`,
    suggestion: 'Answer them by the interface that the message came by.',
  });
}
