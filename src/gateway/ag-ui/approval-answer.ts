import type { ApprovalAnswer } from '../../ports/service-requests.ts';
import { parseForeign } from '../requests/request-fields.ts';
import { callsIn } from '../turns/recorded-turn.ts';
import { interruptId, isFor } from './interrupts.ts';
import { type OtherAnswer, resumePayload, type WantedAnswer } from './resume-answer.ts';
import { ApprovalPayload, type ResumeEntry } from './run-input.ts';
import { runKey } from './run-key.ts';
import type { AgUiTurnState } from './turn-state.ts';

type Answer = Omit<ApprovalAnswer, 'sessionId'>;

/** Reads the decision about a call that waits for approval. */
export function approvalAnswer(entry: ResumeEntry, index: number): WantedAnswer {
  const decision = decisionOf(entry, index);
  return {
    entry,
    in: ({ since, requested: { turnId } }, state) => {
      const callId = callsIn(since, turnId).find((called) =>
        isFor(entry.interruptId, { turnId, callId: called }),
      );
      if (callId === undefined || !state.decisionOf(callId) || state.isOfClient(callId)) return null;
      const answer: Answer = { callId, ...decision };
      return {
        id: interruptId({ turnId, callId }),
        isOpen: state.decisionOf(callId) === 'waiting',
        other: otherDecision(answer, state),
        give: async ({ bus, context, sessionId, input }) => {
          const key = await runKey(input, answer);
          await bus.send('approval.answer', { sessionId, ...answer, key }, context);
        },
      };
    },
  };
}

function decisionOf(entry: ResumeEntry, index: number): Omit<Answer, 'callId'> {
  const sent = resumePayload(entry, index, 'Send {"approved": true} or {"approved": false}.');
  if (!sent) return { approved: false };
  const { approved, reason, argumentsHash } = parseForeign(ApprovalPayload, sent.payload, sent.at);
  return { approved, reason, argumentsHash };
}

/** A call that was given up did not run, as one that is denied. */
function otherDecision({ callId, approved }: Answer, state: AgUiTurnState): OtherAnswer | null {
  const decision = state.decisionOf(callId);
  const isSame = approved ? decision === 'approved' : decision === 'denied' || decision === 'given up';
  if (decision === 'waiting' || isSame) return null;
  return {
    code: 'APPROVAL_NOT_FOUND',
    message: `The interrupt ${callId} is not open any more.`,
    details: { callId },
    reason: `the call was ${decision} before`,
  };
}
