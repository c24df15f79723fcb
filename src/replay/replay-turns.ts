import { SimulatedClock } from 'xstate';
import type { SessionEvent } from '../core/log/events.ts';
import type { TurnLimits } from '../core/turn/turn-limits.ts';
import type { TurnDeps, TurnSession } from '../runtime/turns/turn-deps.ts';
import type { TurnRun } from '../runtime/turns/turn-run.ts';
import { TurnRunner } from '../runtime/turns/turn-runner.ts';

type Limits = ReadonlyMap<string, TurnLimits>;

/** For turns that did not end at a limit, because the recording does not tell their limits. */
const NO_LIMITS: TurnLimits = { maxSteps: Infinity, stepTimeoutMs: Infinity };

/** Starts turns with their recorded limits and a simulated clock. */
export class ReplayTurns {
  readonly #deps: Omit<TurnDeps, keyof TurnLimits>;
  readonly #limits: Limits;
  readonly #standard: TurnRunner;
  readonly #clock = new SimulatedClock();
  #reported = Promise.withResolvers<void>();

  constructor(deps: Omit<TurnDeps, keyof TurnLimits>, events: readonly SessionEvent[], live?: TurnLimits) {
    // A live model takes real time.
    this.#deps = live ? deps : { ...deps, clock: this.#clock };
    this.#limits = live ? new Map() : recordedLimits(events);
    const { maxSteps, stepTimeoutMs } = live ?? NO_LIMITS;
    this.#standard = new TurnRunner({ ...this.#deps, maxSteps, stepTimeoutMs });
  }

  /** A recorded reply comes when the replay has reached it, never before. */
  callEarly(): null {
    return null;
  }

  /** A replay has one version of the agent. */
  hold(): () => void {
    return () => undefined;
  }

  start(session: TurnSession): TurnRun {
    const { open } = session.state;
    const limits = open && this.#limits.get(attemptKey(open.turnId, open.attempt));
    const runner = limits ? new TurnRunner({ ...this.#deps, ...limits }) : this.#standard;
    return runner.start(this.#watched(session), null);
  }

  /** Calls `act`, and waits until the turn has reported a command. */
  async reportAfter(act: () => void): Promise<void> {
    this.#reported = Promise.withResolvers();
    act();
    await this.#reported.promise;
  }

  /** Moves the clock. A time-out that this causes is reported within the call. */
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

function attemptKey(turnId: string, attempt: number): string {
  return `${attempt} ${turnId}`;
}

/** The limits at which turns ended, by attempt: the settings may have changed between two attempts. */
function recordedLimits(events: readonly SessionEvent[]): Limits {
  const limits = new Map<string, TurnLimits>();
  let attempt = 1;
  for (const event of events) {
    if (event.type === 'turn.started') attempt = 1;
    if (event.type === 'turn.resumed') attempt = event.attempt;
    if (event.type !== 'turn.failed') continue;
    const { kind, ...limit } = event.cause;
    if (kind === 'step-limit' || kind === 'step-timeout')
      limits.set(attemptKey(event.turnId, attempt), { ...NO_LIMITS, ...limit });
  }
  return limits;
}
