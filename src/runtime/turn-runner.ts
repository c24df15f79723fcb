import { createActor, fromCallback } from 'xstate';
import { turnMachine } from '../../machines/turn.machine.ts';
import { failureReason } from '../domain/turn-failure.ts';
import { type TurnParts, TurnRun, type TurnSession } from './turn-run.ts';

/** Starts turns: gives the turn machine its effects, once for all turns. */
export class TurnRunner {
  readonly #parts: TurnParts;
  readonly #runs = new Map<string, TurnRun>();
  readonly #machine;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.#machine = turnMachine.provide({
      actors: {
        toolCalls: fromCallback(({ input, receive }) => this.#run(input.turnId).callTools(receive)),
      },
      actions: {
        startModelCall: ({ context }) => this.#run(context.turnId).startModelCall(context.step),
        endModelCall: ({ context }) => this.#run(context.turnId).endModelCall(),
        reportFailure: ({ context }, { failure }) =>
          this.#run(context.turnId).fail(failureReason(failure, context)),
      },
    });
  }

  /** Starts the session's open turn, or goes on with it. */
  start(session: TurnSession): TurnRun {
    const { open } = session.state;
    if (!open) throw new Error(`session ${session.sessionId} has no open turn`);
    const { turnId, step } = open;
    const { maxSteps, stepTimeoutMs } = this.#parts;
    const input = {
      turnId,
      sessionId: session.sessionId,
      step,
      maxSteps,
      stepTimeoutMs,
      unsettled: [...open.unsettled.keys()],
      awaiting: [...open.awaiting.keys()],
    };
    const actor = createActor(this.#machine, { input, id: turnId });
    const run = new TurnRun(session, open, actor, this.#parts, () => {
      this.#runs.delete(turnId);
      this.#parts.machines.remove(actor);
    });
    this.#runs.set(turnId, run);
    this.#parts.machines.add(actor);
    actor.start();
    run.prepare();
    return run;
  }

  #run(turnId: string): TurnRun {
    const run = this.#runs.get(turnId);
    if (!run) throw new Error(`turn ${turnId} is not running`);
    return run;
  }
}
