import type { TurnId } from '../../core/ids.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { ReplyChunk, SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import type { Bus, SessionListener } from '../../ports/bus.ts';
import type { TurnMessage } from '../../ports/service-requests.ts';
import { holdSession, type SessionReader, unlessRefusedOrLeft } from '../security/held-session.ts';
import { endAfterDeletion } from './end-after-deletion.ts';
import { replyOf, type TurnReply } from './turn-end.ts';
import { type DelegatedCall, TurnProgress } from './turn-progress.ts';

/** Hears what the model says in a turn. */
export interface ReplyListener {
  /** A model call of the turn has ended. */
  readonly onStep?: (step: SessionEventOf<'step.completed'>) => void;
  /** A piece of the reply was streamed. */
  readonly onChunk?: (chunk: ReplyChunk) => void;
}

/** The turn has ended, or waits for calls of the client's tools. */
export interface TurnPause extends TurnReply {
  /** Absent if the turn has ended. */
  readonly calls?: readonly DelegatedCall[];
}

type AttendedMessage = Pick<TurnMessage, 'sessionId' | 'turnId' | 'options'>;

/**
 * Hears of the turn from before `use` until it is done. Rejects before that when the client may not read the session any
 * more, or has gone away.
 */
export async function attending<T>(
  bus: Bus,
  message: AttendedMessage,
  { client, listener }: { readonly client: SessionReader; readonly listener: ReplyListener },
  use: (turn: AttendedTurn) => Promise<T>,
): Promise<T> {
  const { sessionId } = message;
  const turn = new AttendedTurn(message, listener, (turnId) =>
    endAfterDeletion(bus, { sessionId, turnId }, client.context),
  );
  const topic = bus.topicOf(message.sessionId, client.context);
  holdSession(bus, message.sessionId, client);
  bus.onSession(topic, turn);
  try {
    return await unlessRefusedOrLeft(use(turn), client);
  } finally {
    bus.offSession(topic, turn);
  }
}

/**
 * Collects the turns that end. It listens before the turn starts, and only the answer to `turn.start` tells
 * which turn to wait for.
 */
class AttendedTurn implements SessionListener {
  readonly progress: TurnProgress;
  readonly #turnId: TurnId;
  readonly #listener: ReplyListener;
  readonly #outcomes = new Map<TurnId, TurnOutcome>();
  readonly #endOf: (turnId: TurnId) => Promise<TurnOutcome | null>;
  #fault: TurnOutcome | undefined;
  #wasDeleted = false;
  /** The turn whose outcome somebody waits for. */
  #awaited: TurnId | null = null;
  /** Set while somebody waits for the outcome. */
  #onChange: (() => void) | null = null;

  /**
   * @param listener hears the steps and the chunks of this turn.
   * @param endOf says how a turn that was begun has ended, when its session was deleted. Null: it has not.
   */
  constructor(
    { turnId, options }: AttendedMessage,
    listener: ReplyListener,
    endOf: (turnId: TurnId) => Promise<TurnOutcome | null>,
  ) {
    this.progress = new TurnProgress(options?.output !== undefined);
    this.#turnId = turnId;
    this.#listener = listener;
    this.#endOf = endOf;
  }

  hear(signal: SessionSignal): void {
    const { onChunk, onStep } = this.#listener;
    if ('event' in signal) {
      const { event } = signal;
      if (event.type === 'step.completed' && event.turnId === this.#turnId) onStep?.(event);
      this.note(event);
    } else if (signal.type === 'session.fault') {
      this.#fault = { status: 'failed', error: signal.error };
      this.#onChange?.();
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#turnId) {
      onChunk?.(signal);
    }
  }

  note(event: Parameters<TurnProgress['note']>[0]): void {
    if ('turnId' in event && event.turnId === this.#turnId) this.progress.note(event);
    const ended = outcomeOf(event);
    if (ended) this.#outcomes.set(ended.turnId, ended.outcome);
    if (ended || event.type.startsWith('tool-call.')) this.#onChange?.();
    if (event.type === 'session.deleted') {
      this.#wasDeleted = true;
      this.#lookForEnd();
    }
  }

  /** Call it once. */
  outcomeOf(turnId: TurnId): Promise<TurnOutcome> {
    return this.#when(turnId, () => this.#outcomes.get(turnId) ?? this.#fault);
  }

  /** Instead of `outcomeOf`. Rejects with the error that ended the turn. */
  pause(): Promise<TurnPause> {
    return this.#when(this.#turnId, () => {
      const outcome = this.#outcomes.get(this.#turnId) ?? this.#fault;
      if (outcome) return { outcome };
      const { missingCalls: calls, reply: content } = this.progress;
      return calls.length > 0 ? { content, calls } : undefined;
    }).then((pause) => ('outcome' in pause ? replyOf(pause.outcome) : pause));
  }

  /** @param turnId has begun. */
  #when<T>(turnId: TurnId, found: () => T | undefined): Promise<T> {
    this.#awaited = turnId;
    return new Promise((resolve) => {
      this.#onChange = () => {
        const value = found();
        if (value !== undefined) resolve(value);
      };
      this.#onChange();
      if (this.#wasDeleted) this.#lookForEnd();
    });
  }

  #lookForEnd(): void {
    const turnId = this.#awaited;
    if (turnId === null || this.#outcomes.has(turnId)) return;
    void this.#endOf(turnId).then((outcome) => {
      if (outcome && !this.#outcomes.has(turnId)) this.#outcomes.set(turnId, outcome);
      this.#onChange?.();
    });
  }
}
