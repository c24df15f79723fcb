import { isSameSession } from '../../../core/access/session-names.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { CallId, SessionId } from '../../../core/ids.ts';
import { answerCalls, answeredWith, type ToolAnswers } from '../../turns/given-answers.ts';
import { recordedTurn, stepWith, turnWithCalls } from '../../turns/recorded-turn.ts';
import { callIdFor } from '../client-tools.ts';
import type { AskedResponse, BegunResponse } from './asked-response.ts';
import { responsesOf } from './recorded-response.ts';
import type { ResponsePlace } from './response-id.ts';

/**
 * Answers the calls that a turn waits for. A request that is repeated with its key has answered them already, and gets the
 * same response.
 * @returns null if nothing waits for these answers.
 */
export async function continued(
  asked: AskedResponse,
  given: ToolAnswers,
  previous: ResponsePlace | null,
): Promise<BegunResponse | null> {
  const { bus, context, agentId } = asked;
  const { sessionId, answers } = given;
  const named = previous?.sessionId ?? asked.body.conversation;
  if (named !== undefined && !isSameSession(named, sessionId, context)) return null;
  const callIds = answers.map(({ callId }) => callId);
  const turn = previous
    ? await recordedTurn(bus, previous, context)
    : await turnWithCalls(bus, { sessionId, isWanted: ({ callId }) => callIds.includes(callId) }, context);
  if (!turn) return null;
  const { turnId } = turn.requested;
  const responses = responsesOf(turn, { agentId, sessionId, turnId, firstStep: previous?.firstStep ?? 1 });
  const missing = responses.missingCalls;
  const before = answeredWith(asked, turn);
  if (!callIds.every((callId) => missing.includes(callId) || before.has(callId))) return null;
  if (before.size === 0) {
    if (previous && responses.firstSteps.at(-1) !== previous.firstStep) return null;
    const unanswered = missing.find((callId) => !callIds.includes(callId));
    if (unanswered !== undefined) throw noOutput(unanswered, sessionId);
  }
  await answerCalls(asked, given, before);
  return {
    place: { agentId, sessionId, turnId, firstStep: stepWith(turn, callIds) + 1 },
    afterSeq: turn.begin - 1,
    isUnstored: turn.requested.options?.ephemeral === true,
    ...(callIds.every((callId) => before.has(callId)) && { isRepeated: true }),
  };
}

export function noOutput(callId: CallId, sessionId: SessionId): ServiceError {
  const id = callIdFor(callId, sessionId);
  return new ServiceError('INVALID_REQUEST', `No tool output found for function call ${id}.`, {
    field: 'input',
    issue: 'the previous response waits for the results of its function calls',
    suggestion: 'Send a function_call_output with this call_id.',
  });
}
