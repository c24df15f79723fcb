import type { TurnParts, TurnSession } from './turn-parts.ts';
import { TurnRun } from './turn-run.ts';

/** Starts turns. */
export class TurnRunner {
  readonly #parts: TurnParts;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Starts the session's open turn, or goes on with it. */
  start(session: TurnSession): TurnRun {
    const { open } = session.state;
    if (!open) throw new Error(`session ${session.sessionId} has no open turn`);
    const run = new TurnRun(session, open, this.#parts);
    run.start();
    return run;
  }
}
