import type { SessionId } from '../../core/ids.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Membership } from '../../ports/membership.ts';

/** Maximum of held signals. With more, pieces of replies are dropped: clients get their text with the end of the step. */
const MAX_HELD = 100_000;

/**
 * Holds signals back while the lease of this node may have ended, because another node may own the sessions by then. They
 * are told when the lease turns out to be held. A node that has lost its lease ends without telling them.
 */
export class HeldSignals {
  readonly #membership: Pick<Membership, 'isHeld'>;
  readonly #tell: (signal: SessionSignal) => void;
  #held: SessionSignal[] = [];

  constructor(membership: Pick<Membership, 'isHeld' | 'onRenewed'>, tell: (signal: SessionSignal) => void) {
    this.#membership = membership;
    this.#tell = tell;
    membership.onRenewed(() => this.#release());
  }

  publish(signal: SessionSignal): void {
    if (this.#held.length > 0) this.#release();
    if (this.#held.length === 0 && (this.#membership.isHeld || isFault(signal))) this.#tell(signal);
    else if ('event' in signal || isFault(signal) || this.#held.length < MAX_HELD) this.#held.push(signal);
  }

  get size(): number {
    return this.#held.length;
  }

  /** Seq of the last event of the session before the first one that is held back. Infinity: no event is held back. */
  toldUpTo(sessionId: SessionId): number {
    for (const signal of this.#held)
      if (signal.sessionId === sessionId && 'event' in signal) return signal.seq - 1;
    return Infinity;
  }

  #release(): void {
    if (!this.#membership.isHeld) return;
    const held = this.#held;
    this.#held = [];
    for (const signal of held) this.#tell(signal);
  }
}

/** A fault needs no lease: it says nothing of what is recorded. */
function isFault(signal: SessionSignal): boolean {
  return !('event' in signal) && signal.type === 'session.fault';
}
