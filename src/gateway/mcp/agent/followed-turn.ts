import { setImmediate } from 'node:timers/promises';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { ReplyChunk, SessionSignal } from '../../../core/session/session-signal.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';
import type { Bus, SessionListener } from '../../../ports/bus.ts';
import { endAfterDeletion } from '../../turns/end-after-deletion.ts';
import { recordedTurn } from '../../turns/recorded-turn.ts';
import { askedIn, keyOf, type Question } from './asked-question.ts';
import type { McpTurnPlace } from './turn-place.ts';
import { McpTurnState } from './turn-state.ts';

/** Where a turn is over, or goes on only when somebody has answered. */
export type TurnStop = { readonly outcome: TurnOutcome } | { readonly questions: readonly Question[] };

export interface TurnHearer {
  readonly onChunk: (chunk: ReplyChunk) => void;
  /** This turn, or the one that it waits behind, waits for an answer. */
  readonly onQuestion: (question: Question) => void;
}

/** Follows a turn, whichever node runs it and whoever began it. Dispose of it when it is no longer followed. */
export class FollowedTurn implements SessionListener, Disposable {
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #state: McpTurnState;
  readonly #hearer: TurnHearer;
  readonly #told = new Set<string>();
  readonly #lookForEnd: () => void;
  #end: TurnOutcome | undefined;
  /** Whether the session was deleted, and whether the turn has begun. */
  #wasDeleted = false;
  #hasBegun = false;
  #onChange = (): void => undefined;

  constructor(bus: Bus, { sessionId, turnId }: McpTurnPlace, context: RequestContext, hearer: TurnHearer) {
    this.#bus = bus;
    this.#state = new McpTurnState(turnId);
    this.#hearer = hearer;
    this.#topic = bus.topicOf(sessionId, context);
    this.#lookForEnd = () =>
      void endAfterDeletion(bus, { sessionId, turnId }, context).then((outcome) => {
        this.#end ??= outcome ?? undefined;
        this.#onChange();
      });
    bus.onSession(this.#topic, this);
  }

  /** What the turn waits for. */
  get questions(): readonly Question[] {
    return this.#state.questions;
  }

  /** Reads what happened before. @returns whether the log has this turn. */
  async catchUp(place: McpTurnPlace, context: RequestContext): Promise<boolean> {
    const recorded = await recordedTurn(this.#bus, place, context);
    for (const envelope of recorded?.since ?? []) this.#state.note(envelope);
    for (const question of this.#state.questions) this.#tell(question);
    return recorded !== null;
  }

  hear(signal: SessionSignal): void {
    if ('event' in signal) {
      this.#state.note(signal);
      const question = askedIn(signal);
      if (question) this.#tell(question);
      this.#onChange();
      if (signal.event.type === 'session.deleted') {
        this.#wasDeleted = true;
        if (this.#hasBegun) this.#lookForEnd();
      }
    } else if (signal.type === 'session.fault') {
      this.#end = { status: 'failed', error: signal.error };
      this.#onChange();
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#state.turnId) {
      this.#hearer.onChunk(signal);
    }
  }

  /** Call it once, when the turn has begun. @param isAsked whether the turn stops for this question. */
  async stop(isAsked: (question: Question) => boolean): Promise<TurnStop> {
    const outcome = () => this.#state.outcome ?? this.#end;
    this.#hasBegun = true;
    if (this.#wasDeleted) this.#lookForEnd();
    await new Promise<void>((resolve) => {
      this.#onChange = () => {
        if (outcome() || this.#state.questions.some(isAsked)) resolve();
      };
      this.#onChange();
    });
    // The calls of one step ask for approval one after the other, at once.
    await setImmediate();
    const end = outcome();
    if (end) return { outcome: end };
    const questions = this.#state.questions.filter(isAsked);
    return questions.length > 0 ? { questions } : this.stop(isAsked);
  }

  /** A question that is asked while the past is read is heard of twice. */
  #tell(question: Question): void {
    const key = keyOf(question);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#hearer.onQuestion(question);
  }

  [Symbol.dispose](): void {
    this.#bus.offSession(this.#topic, this);
  }
}
