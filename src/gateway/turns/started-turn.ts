import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import { CallId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { AnswerOf, TurnMessage } from '../../ports/service-requests.ts';
import type { NoResult } from './answered-before.ts';

const WaitingForClient = z.object({ clientCalls: z.tuple([CallId], CallId) });

/**
 * Starts the turn of a client that runs tools itself. Its message waits behind a turn that is at work, but not behind one that
 * waits for results of tools: that would go on only with the results that this client should have sent.
 *
 * @param noResult what to throw then, for the first of these calls.
 */
export async function startTurn(
  bus: Bus,
  message: TurnMessage,
  context: RequestContext,
  noResult: NoResult,
): Promise<AnswerOf<'turn.start'>> {
  try {
    return await bus.send('turn.start', { ...message, notBehindClient: true }, context);
  } catch (error) {
    const waiting =
      error instanceof ServiceError ? WaitingForClient.safeParse(error.details).data : undefined;
    throw waiting ? noResult(waiting.clientCalls[0], message.sessionId) : error;
  }
}
