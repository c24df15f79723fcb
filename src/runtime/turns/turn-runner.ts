import { userMessage } from '../../core/conversation/transcript.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { completedStep } from './completed-step.ts';
import { EarlyReply } from './early-reply.ts';
import { modelRequest } from './model-request.ts';
import type { TurnDeps, TurnSession } from './turn-deps.ts';
import { TurnRun } from './turn-run.ts';

/** Starts turns. */
export class TurnRunner {
  readonly #deps: TurnDeps;

  constructor(deps: TurnDeps) {
    this.#deps = deps;
  }

  /**
   * Calls the model for a turn that begins with these events, before they are in the log. Null where the call must wait:
   * for the tool servers, or for the end of another turn.
   * @param state before the events.
   */
  callEarly(state: SessionState, events: readonly SessionEvent[]): EarlyReply | null {
    const { callsEarly = false, catalog, model } = this.#deps;
    const [requested, started] = events;
    if (!callsEarly || state.open || events.length !== 2) return null;
    if (requested?.type !== 'turn.requested' || started?.type !== 'turn.started') return null;
    if (catalog.ready() !== null) return null;
    const { turnId, text } = requested;
    const { transcript, refusals } = state;
    const conversation = { transcript, refusals, next: userMessage(requested) };
    const offer = catalog.forModel();
    const place = { turnId, step: 1 };
    const request = modelRequest({ ...place, conversation, said: text }, this.#deps, offer);
    return new EarlyReply(model, request, offer, (reply) => completedStep(place, reply, [], this.#deps));
  }

  /** Starts the session's open turn, or goes on with it. */
  start(session: TurnSession, early: EarlyReply | null): TurnRun {
    const { open } = session.state;
    if (!open) throw new Error(`session ${session.sessionId} has no open turn`);
    const run = new TurnRun(session, open, this.#deps, early);
    run.start();
    return run;
  }
}
