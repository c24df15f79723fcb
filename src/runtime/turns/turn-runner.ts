import { createActor, fromCallback } from 'xstate';
import { turnMachine } from '../../../machines/turn.machine.ts';
import type { SessionId } from '../../core/ids.ts';
import { limitCause } from '../../core/turn/turn-limits.ts';
import { type TurnParts, TurnRun, type TurnSession } from './turn-run.ts';

/** Starts turns: gives the turn machine its effects, once for all turns. */
export class TurnRunner {
  readonly #parts: TurnParts;
  /** By session, which has one at a time. An imported copy of a session has turns of the same ids. */
  readonly #runs = new Map<SessionId, TurnRun>();
  readonly #machine;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#machine = turnMachine.provide({
      actors: {
        toolCalls: fromCallback(({ input, receive }) => this.#run(input.sessionId).callTools(receive)),
      },
      actions: {
        startModelCall: ({ context }) => this.#run(context.sessionId).startModelCall(context.step),
        endModelCall: ({ context }) => this.#run(context.sessionId).endModelCall(),
        reportFailure: ({ context }, { failure }) =>
          this.#run(context.sessionId).failBy(limitCause(failure, context)),
      },
    });
  }

  /** Starts the session's open turn, or goes on with it. */
  start(session: TurnSession): TurnRun {
    const { sessionId } = session;
    const { open } = session.state;
    if (!open) throw new Error(`session ${sessionId} has no open turn`);
    const { turnId, step } = open;
    const { maxSteps, stepTimeoutMs } = this.#parts;
    const input = {
      turnId,
      sessionId,
      step,
      maxSteps,
      stepTimeoutMs,
      unsettled: [...open.unsettled.keys()],
      awaiting: [...open.awaiting.keys()],
    };
    const actor = createActor(this.#machine, { input, id: turnId });
    const run = new TurnRun(session, open, actor, this.#parts, () => {
      if (this.#runs.get(sessionId) === run) this.#runs.delete(sessionId);
      this.#parts.machines.remove(actor);
    });
    this.#runs.set(sessionId, run);
    this.#parts.machines.add(actor);
    actor.start();
    run.prepare();
    return run;
  }

  #run(sessionId: SessionId): TurnRun {
    const run = this.#runs.get(sessionId);
    if (!run) throw new Error(`no turn of session ${sessionId} is running`);
    return run;
  }
}
