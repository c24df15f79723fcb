import { ServiceError } from '../../core/errors.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { isSentWith } from '../../core/request/sent-before.ts';
import type { ToolOutcome } from '../../core/tool-call/tool.ts';
import type { Bus } from '../../ports/bus.ts';
import type { RecordedTurn } from './recorded-turn.ts';

/** What came of a call of a tool that the client has lent. */
export interface CallAnswer {
  readonly callId: CallId;
  readonly outcome: ToolOutcome;
}

/** What a request says of the calls that a session waits for. */
export interface ToolAnswers {
  readonly sessionId: SessionId;
  readonly answers: readonly CallAnswer[];
}

interface Asker {
  readonly bus: Pick<Bus, 'send'>;
  readonly context: RequestContext;
  readonly key?: IdempotencyKey | undefined;
}

/** The calls of the turn that the request has answered already, when it was sent with its key before. */
export function answeredWith(
  { key, context }: Omit<Asker, 'bus'>,
  { requested, since }: RecordedTurn,
): ReadonlySet<CallId> {
  if (!key) return new Set();
  const isSent = isSentWith(key, context);
  return new Set(
    since.flatMap((envelope) => {
      const { event } = envelope;
      const isSettled = event.type === 'tool-call.succeeded' || event.type === 'tool-call.failed';
      return isSettled && event.turnId === requested.turnId && isSent(envelope) ? [event.callId] : [];
    }),
  );
}

/**
 * Answers the calls. Those that the request has answered before are sent all the same, because only the key tells whether
 * the payload is the same.
 */
export async function answerCalls(
  { bus, context, key }: Asker,
  { sessionId, answers }: ToolAnswers,
  before: ReadonlySet<CallId>,
): Promise<void> {
  for (const answer of answers) {
    try {
      await bus.send('tool-call.answer', { sessionId, ...answer, key }, context);
    } catch (error) {
      // The service ended after the answer was recorded, and before its key was.
      const isKnown = before.has(answer.callId) && error instanceof ServiceError;
      if (!isKnown || error.code !== 'CALL_NOT_FOUND') throw error;
    }
  }
}
