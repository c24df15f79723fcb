import { setImmediate } from 'node:timers/promises';
import type { CallId } from '../../../core/ids.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { ReplyChunk, SessionSignal } from '../../../core/session/session-signal.ts';
import type { PendingApproval } from '../../../core/session/session-view.ts';
import { pendingApproval } from '../../../core/session/view-session.ts';
import type { TurnOutcome } from '../../../core/turn/turn-outcome.ts';
import type { Bus, SessionListener } from '../../../ports/bus.ts';
import { recordedTurn } from '../../turns/recorded-turn.ts';
import type { TurnPlace } from './turn-place.ts';
import { TurnState } from './turn-state.ts';

/** Where a turn is over, or goes on only when somebody has decided. */
export type TurnStop = { readonly outcome: TurnOutcome } | { readonly approvals: readonly PendingApproval[] };

export interface TurnHearer {
  readonly onChunk: (chunk: ReplyChunk) => void;
  /** A call of this turn, or of the one that it waits behind, waits for approval. */
  readonly onApproval: (approval: PendingApproval) => void;
}

/** Follows a turn, whichever node runs it and whoever began it. Dispose of it when it is no longer followed. */
export class FollowedTurn implements SessionListener, Disposable {
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #state: TurnState;
  readonly #hearer: TurnHearer;
  readonly #told = new Set<CallId>();
  #fault: TurnOutcome | undefined;
  #onChange = (): void => undefined;

  constructor(bus: Bus, { sessionId, turnId }: TurnPlace, context: RequestContext, hearer: TurnHearer) {
    this.#bus = bus;
    this.#state = new TurnState(turnId);
    this.#hearer = hearer;
    this.#topic = bus.topicOf(sessionId, context);
    bus.onSession(this.#topic, this);
  }

  /** The calls of the turn that wait for approval. */
  get approvals(): readonly PendingApproval[] {
    return this.#state.approvals;
  }

  /** Reads what happened before. @returns whether the log has this turn. */
  async catchUp(place: TurnPlace, context: RequestContext): Promise<boolean> {
    const recorded = await recordedTurn(this.#bus, place, context);
    for (const envelope of recorded?.since ?? []) this.#state.note(envelope);
    for (const approval of this.#state.approvals) this.#tell(approval);
    return recorded !== null;
  }

  hear(signal: SessionSignal): void {
    if ('event' in signal) {
      const { event, time } = signal;
      this.#state.note(signal);
      if (event.type === 'approval.requested') this.#tell(pendingApproval(event, time));
      this.#onChange();
    } else if (signal.type === 'session.fault') {
      this.#fault = { status: 'failed', error: signal.error };
      this.#onChange();
    } else if (signal.type === 'reply.chunk' && signal.turnId === this.#state.turnId) {
      this.#hearer.onChunk(signal);
    }
  }

  /** Call it once. @param isAsked whether the turn stops for this approval. */
  async stop(isAsked: (approval: PendingApproval) => boolean): Promise<TurnStop> {
    const outcome = () => this.#state.outcome ?? this.#fault;
    await new Promise<void>((resolve) => {
      this.#onChange = () => {
        if (outcome() || this.#state.approvals.some(isAsked)) resolve();
      };
      this.#onChange();
    });
    // The calls of one step ask for approval one after the other, at once.
    await setImmediate();
    const end = outcome();
    if (end) return { outcome: end };
    const approvals = this.#state.approvals.filter(isAsked);
    return approvals.length > 0 ? { approvals } : this.stop(isAsked);
  }

  /** An approval that is asked for while the past is read is heard of twice. */
  #tell(approval: PendingApproval): void {
    if (this.#told.has(approval.callId)) return;
    this.#told.add(approval.callId);
    this.#hearer.onApproval(approval);
  }

  [Symbol.dispose](): void {
    this.#bus.offSession(this.#topic, this);
  }
}
