import type { ServiceError } from '../../core/errors.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
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
  readonly noResult: NoResult;
}

/** What to throw for a call whose result a client should have sent. */
export type NoResult = (callId: CallId, sessionId: SessionId) => ServiceError;

/**
 * Answers the calls that the session waits for, for a client that answers them and says something else at once: the message
 * should interrupt their turn, which would be waited for otherwise. Throws if a result is missing.
 *
 * @returns whether the session waits for them.
 */
export async function answerBefore(
  { bus, context, key, noResult }: AnsweringClient,
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
  if (missing !== undefined) throw noResult(missing, sessionId);
  await answerCalls({ bus, context, key }, { sessionId, answers: given }, new Set());
  return true;
}
