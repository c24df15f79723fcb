import type { SessionEvent } from '../core/log/events.ts';
import { outcomeOf } from '../core/session/session-state.ts';

/** A turn as it was replayed. */
export interface ReplayedTurn {
  /** 1, 2, 3 … in the order in which the messages were accepted. */
  readonly number: number;
  readonly turnId: string;
  readonly steps: number;
  readonly toolCalls: number;
  /** `unfinished` if the recording or the replay ended first. */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'unfinished';
}

/** Counts the steps and tool calls of each turn that were replayed as recorded. */
export class TurnTally {
  readonly #turns = new Map<string, ReplayedTurn>();

  get turns(): ReplayedTurn[] {
    return [...this.#turns.values()];
  }

  turn(turnId: string): ReplayedTurn | undefined {
    return this.#turns.get(turnId);
  }

  /** @returns the turn that the event ends, if it ends one. */
  count(event: SessionEvent): ReplayedTurn | undefined {
    if (!('turnId' in event)) return undefined;
    const turn = this.#counted(event, this.#turns.get(event.turnId) ?? this.#newTurn(event.turnId));
    this.#turns.set(event.turnId, turn);
    return turn.outcome === 'unfinished' ? undefined : turn;
  }

  #newTurn(turnId: string): ReplayedTurn {
    return { number: this.#turns.size + 1, turnId, steps: 0, toolCalls: 0, outcome: 'unfinished' };
  }

  #counted(event: SessionEvent, turn: ReplayedTurn): ReplayedTurn {
    if (event.type === 'step.completed') return { ...turn, steps: turn.steps + 1 };
    if (event.type === 'tool-call.requested') return { ...turn, toolCalls: turn.toolCalls + 1 };
    const ended = outcomeOf(event);
    return ended ? { ...turn, outcome: ended.outcome.status } : turn;
  }
}
