import { z } from 'zod';
import type { SessionEvent } from '../../core/log/events.ts';
import type { Part } from './a2a-objects.ts';
import { meantId, type WaitingKind } from './meant-id.ts';

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

export const APPROVALS: WaitingKind = {
  noun: 'call',
  field: 'callId',
  need: 'approval',
  one: 'an approval',
  several: 'several approvals',
  part: 'the text approve or deny, or the data {"approve": true, "callId": "…", "argumentsHash": "…", "reason": "…"}',
};

/** The decision in a part of a message. Null if it has none. */
export function decisionIn({ text, data }: Part): Decision | null {
  if (text === undefined) return Decision.safeParse(data).data ?? null;
  const approve = WORDS[text.trim().toLowerCase()];
  return approve === undefined ? null : { approve };
}

/** @param waiting the calls that wait for approval. Throws if the decision is for none of them. */
export function approvalDecision(
  { approve: approved, callId, reason, argumentsHash }: Decision,
  waiting: readonly string[],
): ApprovalDecision {
  return { callId: meantId(callId, waiting, APPROVALS), approved, reason, argumentsHash };
}

/** Whether the event may be what came of the decision in the part. */
export function isDecided(part: Part, event: SessionEvent): boolean {
  if (event.type !== 'approval.granted' && event.type !== 'tool-call.failed') return false;
  return decisionIn(part)?.approve === (event.type === 'approval.granted');
}
