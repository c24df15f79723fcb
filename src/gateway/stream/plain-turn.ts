import type { TurnId } from '../../core/ids.ts';
import type { SessionFault, SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';

/**
 * What clients of plain frames have of the turn that goes on. When the turn is resumed, after its node has died or after the log
 * refused an event, its step runs again, and these clients cannot be told to forget what they have. So they are told what comes
 * after it. If the model says something else this time, their `response` has it all.
 */
export class PlainTurn {
  /** The turn that they were told has begun, and not that it is over. */
  #turnId: TurnId | null = null;
  /** How much of the text of the step they have, in UTF-16 code units. */
  #told = 0;
  /** How much of the text is said for the second time. */
  #repeated = 0;
  /** Whether they were told that the turn was interrupted. */
  #isInterrupted = false;

  /** The part of the signal that is new to them. Null: none. */
  newPart(signal: SessionSignal): SessionSignal | null {
    if ('event' in signal) return this.#hearEvent(signal);
    if (signal.type === 'session.fault') return this.#interrupt(signal);
    if (signal.type !== 'reply.chunk') return signal;
    const end = signal.offset + signal.content.length;
    this.#told = Math.max(this.#told, end);
    if (signal.offset >= this.#repeated) return signal;
    if (end <= this.#repeated) return null;
    const content = signal.content.slice(this.#repeated - signal.offset);
    return { ...signal, offset: this.#repeated, content };
  }

  /** The same turn may be interrupted several times. For them it is one `error`, and one more if nobody goes on with it. */
  #interrupt(signal: SessionFault): SessionFault | null {
    const isKnown = this.#isInterrupted;
    this.#isInterrupted = true;
    return isKnown && signal.error.details.continues !== false ? null : signal;
  }

  #hearEvent(signal: Extract<SessionSignal, { readonly event: unknown }>): SessionSignal | null {
    const { event } = signal;
    if (event.type === 'turn.resumed') {
      const wasTold = this.#turnId === event.turnId;
      this.#turnId = event.turnId;
      this.#repeated = this.#told;
      return wasTold ? null : signal;
    }
    if (event.type === 'turn.started' || outcomeOf(event)?.turnId === this.#turnId) this.#forget();
    if (event.type === 'turn.started') this.#turnId = event.turnId;
    else if (event.type === 'step.completed') this.#beginStep();
    return signal;
  }

  #forget(): void {
    this.#turnId = null;
    this.#isInterrupted = false;
    this.#beginStep();
  }

  #beginStep(): void {
    this.#told = 0;
    this.#repeated = 0;
  }
}
