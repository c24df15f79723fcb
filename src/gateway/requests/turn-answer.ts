import { ServiceError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ReplyChunk, SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { Bus } from '../../ports/bus.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';
import { endOf, type TurnReply } from './turn-end.ts';

/**
 * Starts a turn and waits for its reply. Rejects with the error that ended the turn. A message that is
 * repeated with its key gets the reply of the first one.
 *
 * @param onChunk receives the pieces of the reply as they stream.
 */
export async function answerTurn(
  bus: Bus,
  message: TurnMessage,
  context: RequestContext,
  onChunk: (chunk: ReplyChunk) => void = () => undefined,
): Promise<TurnReply> {
  const settled = new SettledTurns();
  const unsubscribe = bus.onSession(message.sessionId, (signal) => {
    if (!('event' in signal) && signal.type === 'reply.chunk' && signal.turnId === message.turnId)
      onChunk(signal);
    settled.note(signal);
  });
  try {
    const { turnId, outcome } = await bus.send('turn.start', message, context);
    return replyOf(outcome ?? (await settled.outcomeOf(turnId)));
  } finally {
    unsubscribe();
  }
}

/**
 * Collects the turns that end. It listens before the turn starts, and only the answer to `turn.start` tells
 * which turn to wait for.
 */
class SettledTurns {
  readonly #outcomes = new Map<TurnId, TurnOutcome>();
  #fault: TurnOutcome | undefined;
  #onChange: () => void = () => undefined;

  note(signal: SessionSignal): void {
    if ('event' in signal) {
      const outcome = outcomeOf(signal.event);
      if (!outcome) return;
      this.#outcomes.set(outcome.turnId, outcome.outcome);
    } else if (signal.type === 'session.fault') {
      this.#fault = { status: 'failed', error: signal.error };
    } else {
      return;
    }
    this.#onChange();
  }

  /** Call it once. */
  outcomeOf(turnId: TurnId): Promise<TurnOutcome> {
    return new Promise((resolve) => {
      this.#onChange = () => {
        const outcome = this.#outcomes.get(turnId) ?? this.#fault;
        if (outcome) resolve(outcome);
      };
      this.#onChange();
    });
  }
}

function replyOf(outcome: TurnOutcome): TurnReply {
  const end = endOf(outcome);
  if ('content' in end) return end;
  throw ServiceError.of(end.error);
}
