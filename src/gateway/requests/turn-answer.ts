import { ServiceError } from '../../core/errors.ts';
import type { TurnId } from '../../core/ids.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ReplyChunk, SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { PendingApproval } from '../../core/session/session-view.ts';
import { pendingApproval } from '../../core/session/view-session.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { Bus, SessionListener } from '../../ports/bus.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';
import { endOf, type TurnReply } from './turn-end.ts';

/** Hears what happens before a turn ends. */
export interface TurnListener {
  /** The message is in the log, as this turn. */
  readonly onAccepted?: (turnId: TurnId) => void;
  /** A model call of the turn has ended. */
  readonly onStep?: (step: SessionEventOf<'step.completed'>) => void;
  /** A piece of the reply was streamed. */
  readonly onChunk?: (chunk: ReplyChunk) => void;
  /** The turn, or the one that it waits behind, waits for these approvals. */
  readonly onApprovals?: (approvals: readonly PendingApproval[]) => void;
}

/**
 * Starts a turn and waits for its reply. Rejects with the error that ended the turn. A message that is
 * repeated with its key gets the reply of the first one.
 *
 * @param listener hears of the turn while it goes on.
 */
export async function answerTurn(
  bus: Bus,
  message: TurnMessage,
  context: RequestContext,
  listener: TurnListener = {},
): Promise<TurnReply> {
  const settled = new SettledTurns(message.turnId, listener);
  const topic = bus.topicOf(message.sessionId, context);
  bus.onSession(topic, settled);
  try {
    const { turnId, outcome, waitsFor } = await bus.send('turn.start', message, context);
    listener.onAccepted?.(turnId);
    if (waitsFor) listener.onApprovals?.(waitsFor);
    return replyOf(outcome ?? (await settled.outcomeOf(turnId)));
  } finally {
    bus.offSession(topic, settled);
  }
}

/**
 * Collects the turns that end. It listens before the turn starts, and only the answer to `turn.start` tells
 * which turn to wait for.
 */
class SettledTurns implements SessionListener {
  readonly #turnId: TurnId;
  readonly #listener: TurnListener;
  readonly #outcomes = new Map<TurnId, TurnOutcome>();
  #fault: TurnOutcome | undefined;
  /** Set while somebody waits for the outcome. */
  #onChange: (() => void) | null = null;

  /** @param listener hears the chunks of this turn, and what the session waits for. */
  constructor(turnId: TurnId, listener: TurnListener) {
    this.#turnId = turnId;
    this.#listener = listener;
  }

  hear(signal: SessionSignal): void {
    const { onChunk, onStep, onApprovals } = this.#listener;
    if ('event' in signal) {
      const { event, time } = signal;
      if (event.type === 'step.completed' && event.turnId === this.#turnId) onStep?.(event);
      if (event.type === 'approval.requested') onApprovals?.([pendingApproval(event, time)]);
      this.#note(outcomeOf(event));
    } else if (signal.type === 'session.fault') {
      this.#fault = { status: 'failed', error: signal.error };
      this.#onChange?.();
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#turnId) {
      onChunk?.(signal);
    }
  }

  #note(ended: ReturnType<typeof outcomeOf>): void {
    if (!ended) return;
    this.#outcomes.set(ended.turnId, ended.outcome);
    this.#onChange?.();
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
