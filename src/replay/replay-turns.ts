import { SimulatedClock } from 'xstate';
import type { SessionEvent } from '../core/log/events.ts';
import type { TurnLimits } from '../core/turn/turn-limits.ts';
import type { TurnParts, TurnSession } from '../runtime/turns/turn-parts.ts';
import type { TurnRun } from '../runtime/turns/turn-run.ts';
import { TurnRunner } from '../runtime/turns/turn-runner.ts';

type Limits = ReadonlyMap<string, TurnLimits>;

/** Of a turn that ended otherwise, the recording shows none. */
const NO_LIMITS: TurnLimits = { maxSteps: Infinity, stepTimeoutMs: Infinity };

/** Starts turns with the limits that the recording shows for them, on a clock that stands still. */
export class ReplayTurns {
  readonly #parts: Omit<TurnParts, keyof TurnLimits>;
  readonly #limits: Limits;
  readonly #standard: TurnRunner;
  readonly #clock = new SimulatedClock();
  #reported = Promise.withResolvers<void>();

  constructor(parts: Omit<TurnParts, keyof TurnLimits>, events: readonly SessionEvent[], live?: TurnLimits) {
    // A model that is really called takes real time.
    this.#parts = live ? parts : { ...parts, clock: this.#clock };
    this.#limits = live ? new Map() : recordedLimits(events);
    const { maxSteps, stepTimeoutMs } = live ?? NO_LIMITS;
    this.#standard = new TurnRunner({ ...this.#parts, maxSteps, stepTimeoutMs });
  }

  start(session: TurnSession): TurnRun {
    const { open } = session.state;
    const limits = open && this.#limits.get(attemptOf(open.turnId, open.attempt));
    const runner = limits ? new TurnRunner({ ...this.#parts, ...limits }) : this.#standard;
    return runner.start(this.#watched(session));
  }

  /** Does something and waits until the turn has reported what came of it. */
  async reportAfter(act: () => void): Promise<void> {
    this.#reported = Promise.withResolvers();
    act();
    await this.#reported.promise;
  }

  /** What comes of it is reported at once. */
  passTime(ms: number): void {
    this.#clock.increment(ms);
  }

  #watched(session: TurnSession): TurnSession {
    return {
      sessionId: session.sessionId,
      get state() {
        return session.state;
      },
      causes: session.causes,
      report: (command, origin) => {
        session.report(command, origin);
        this.#reported.resolve();
      },
    };
  }
}

function attemptOf(turnId: string, attempt: number): string {
  return `${attempt} ${turnId}`;
}

/** The limits that turns ran into, by attempt: the next one may have had others. */
function recordedLimits(events: readonly SessionEvent[]): Limits {
  const limits = new Map<string, TurnLimits>();
  let attempt = 1;
  for (const event of events) {
    if (event.type === 'turn.started') attempt = 1;
    if (event.type === 'turn.resumed') attempt = event.attempt;
    if (event.type !== 'turn.failed') continue;
    const { kind, ...limit } = event.cause;
    if (kind === 'step-limit' || kind === 'step-timeout')
      limits.set(attemptOf(event.turnId, attempt), { ...NO_LIMITS, ...limit });
  }
  return limits;
}
