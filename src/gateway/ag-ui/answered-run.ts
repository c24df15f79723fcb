import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import { turnWithCalls } from '../turns/recorded-turn.ts';
import type { AskedRun } from './asked-run.ts';
import { interruptId } from './interrupts.ts';
import { knownThread } from './known-thread.ts';
import { pauseBefore, stateOf } from './recorded-state.ts';
import type { RunPlan } from './run-events.ts';
import { conversationIn } from './run-input.ts';
import { answerForRun, clientAnswers } from './tool-answers.ts';

/**
 * Goes on with the turn that asked for the tools whose results are at the end of the messages. Calls that were answered
 * before are not answered again: the run tells what came of them.
 * @returns null if the results are not of the client.
 */
export async function answeredRun(asked: AskedRun): Promise<RunPlan | null> {
  const { bus, context, sessionId, input } = asked;
  const messages = conversationIn(input.messages);
  const begin = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const ended = messages.slice(begin).flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []));
  const turn = await turnWithCalls(
    bus,
    { sessionId, isWanted: ({ callId }) => ended.includes(callId) },
    context,
  );
  if (!turn) throw noCalls(ended);
  const state = stateOf(turn);
  const callIds = ended.filter((callId) => state.isOfClient(callId));
  if (callIds.length === 0) return null;
  await answerForRun(asked, clientAnswers(messages, state));
  const { turnId } = state;
  const decided = callIds.map((callId) => interruptId({ turnId, callId }));
  const place = pauseBefore(turn, decided);
  const thread = await knownThread(asked, turn, place);
  return { ...place, decided, ...(thread && { thread }), warnings: [] };
}

function noCalls(callIds: readonly CallId[]): ServiceError {
  return new ServiceError('CALL_NOT_FOUND', 'The thread has no tool call with that id.', {
    field: 'messages',
    callId: callIds[0],
    suggestion: 'A tool message names the call with its toolCallId.',
  });
}
