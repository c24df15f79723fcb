import type { AgentVersion } from '../../core/agent-description.ts';
import { transcribed } from '../../core/conversation/given-message.ts';
import { hasMessage, userMessage } from '../../core/conversation/transcript.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { ModelReply } from '../../ports/language-model.ts';
import { completedStep, keeping } from './completed-step.ts';
import { EarlyReply } from './early-reply.ts';
import { modelRequest } from './model-request.ts';
import type { TurnDeps, TurnSession } from './turn-deps.ts';
import { TurnRun } from './turn-run.ts';

/** Starts turns. A turn keeps to the version of the agent with which it began. */
export class TurnRunner {
  #current: TurnDeps;
  /** Versions of turns that were decided and have not begun yet: their events are on their way to the log. */
  readonly #held: TurnDeps[] = [];

  constructor(deps: TurnDeps) {
    this.#current = deps;
  }

  /** Turns that are decided from now on run with these. */
  use(deps: TurnDeps): void {
    this.#current = deps;
  }

  /** Keeps the version with which turns are decided now. @returns a function that ends it: they have begun, or never will. */
  hold(): () => void {
    const deps = this.#current;
    this.#held.push(deps);
    deps.uses?.acquire();
    return () => {
      this.#held.splice(this.#held.indexOf(deps), 1);
      deps.uses?.release();
    };
  }

  /**
   * Calls the model for a turn that begins with these events, before they are in the log. Null where the call must wait:
   * for the tool servers, or for the end of another turn.
   * @param state before the events.
   */
  callEarly(state: SessionState, events: readonly SessionEvent[]): EarlyReply | null {
    const [requested, started] = events;
    if (state.open || events.length !== 2) return null;
    if (requested?.type !== 'turn.requested' || started?.type !== 'turn.started') return null;
    const deps = this.#depsOf(started.agentVersion);
    const { callsEarly = false, catalog, model } = deps;
    if (!callsEarly || catalog.ready() !== null) return null;
    const { turnId, text, given, options } = requested;
    const { refusals } = state;
    const transcript = given ? [...state.transcript, ...given.map(transcribed)] : state.transcript;
    const next = hasMessage(requested) && { next: userMessage(requested) };
    const conversation = { transcript, refusals, ...next };
    const offer = catalog.forModel(options?.clientTools);
    const place = { turnId, step: 1 };
    const request = modelRequest({ ...place, conversation, said: text, options }, deps, offer);
    // A reply that must be checked is not stored before that.
    const completed = (reply: ModelReply) => completedStep(place, reply, [], keeping(deps, options));
    return new EarlyReply(model, request, offer, options?.output ? null : completed);
  }

  /**
   * Starts the session's open turn, or goes on with it.
   * @param agentVersion as the log has it for the turn.
   */
  start(session: TurnSession, early: EarlyReply | null, agentVersion?: AgentVersion): TurnRun {
    const { open } = session.state;
    if (!open) throw new Error(`session ${session.sessionId} has no open turn`);
    const run = new TurnRun(session, open, this.#depsOf(agentVersion), early);
    run.start();
    return run;
  }

  #depsOf(agentVersion: AgentVersion | undefined): TurnDeps {
    return this.#held.findLast((held) => held.agentVersion === agentVersion) ?? this.#current;
  }
}
