import type { TurnDeps, TurnSession } from './turn-deps.ts';
import { TurnRun } from './turn-run.ts';

/** Starts turns. */
export class TurnRunner {
  readonly #deps: TurnDeps;

  constructor(deps: TurnDeps) {
    this.#deps = deps;
  }

  /** Starts the session's open turn, or goes on with it. */
  start(session: TurnSession): TurnRun {
    const { open } = session.state;
    if (!open) throw new Error(`session ${session.sessionId} has no open turn`);
    const run = new TurnRun(session, open, this.#deps);
    run.start();
    return run;
  }
}
