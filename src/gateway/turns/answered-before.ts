import { ServiceError } from '../../core/errors.ts';
import type { CallId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import type { Bus } from '../../ports/bus.ts';
import { answerCalls, type ToolAnswers } from './given-answers.ts';
import { eventsIn, newestTurn } from './recorded-turn.ts';
import { TurnProgress } from './turn-progress.ts';

export interface AnsweringClient {
  readonly bus: Bus;
  readonly context: RequestContext;
  readonly key: IdempotencyKey | undefined;
}

/**
 * Answers the calls that the session waits for, for a client that answers them and says something else at once: the message
 * should interrupt their turn, which would be waited for otherwise. Throws `INVALID_REQUEST` if a result is missing.
 *
 * @returns whether the session waits for them.
 */
export async function answerBefore(
  { bus, context, key }: AnsweringClient,
  { sessionId, answers }: ToolAnswers,
): Promise<boolean> {
  const turn = await newestTurn(bus, sessionId, context);
  if (!turn || turn.end !== undefined) return false;
  const progress = new TurnProgress(false);
  for (const event of eventsIn(turn.since, turn.requested.turnId)) progress.note(event);
  const wanted = progress.missingCalls.map(({ callId }) => callId);
  const given = answers.filter(({ callId }) => wanted.includes(callId));
  if (given.length === 0) return false;
  const missing = wanted.find((callId) => given.every((answer) => answer.callId !== callId));
  if (missing !== undefined) throw noResult(missing);
  await answerCalls({ bus, context, key }, { sessionId, answers: given }, new Set());
  return true;
}

/** @param callId of a call that the session waits for. */
export function noResult(callId: CallId): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'The result of a tool call is missing.', {
    ...{ field: 'messages', callId },
    issue: 'the session waits for the results of its tool calls',
    suggestion: 'Send a tool message for each of these calls before the message.',
  });
}
