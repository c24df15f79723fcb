import { ServiceError } from '../core/errors.ts';
import type { SessionEvent } from '../core/log/events.ts';
import { decide, type SessionPolicy } from '../core/session/session-decider.ts';
import { evolve, initialSessionState, type SessionState } from '../core/session/session-state.ts';
import type { TurnLimits } from '../core/turn/turn-limits.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { LanguageModel } from '../ports/language-model.ts';
import type { Log } from '../ports/log.ts';
import { LiveMachines } from '../runtime/bus/live-machines.ts';
import { LocalBus } from '../runtime/bus/local-bus.ts';
import { serviceOrigin } from '../runtime/requests/request-origin.ts';
import { Journal } from '../runtime/sessions/journal.ts';
import { SessionActor } from '../runtime/sessions/session-actor.ts';
import type { TurnTools } from '../runtime/turns/turn-tools.ts';
import type { RecordedInput, RecordedReply } from './recorded-input.ts';
import { type ModelCall, ReplayModel } from './replay-model.ts';
import { ReplayTools } from './replay-tools.ts';
import { ReplayTurns } from './replay-turns.ts';

/** What a replay asks anew, instead of taking it from the recording. */
export interface LiveAgent extends TurnLimits {
  readonly model: LanguageModel;
  readonly systemPrompt: string;
  readonly historyTokens: number;
  /** What the model is offered. None of them is called. */
  readonly tools: Pick<TurnTools, 'forModel'>;
}

export interface ReplayParts {
  /** Empty, and in memory: what is replayed is appended to it. */
  readonly store: EventStore;
  readonly log: Log;
  readonly live?: LiveAgent | undefined;
}

/** Messages were let in when they were recorded, and each says what to do when the session is busy. */
const POLICY: SessionPolicy = { queuedMessages: false, whenBusy: 'enqueue' };

/** A recorded model is shown as little as possible, because it does not look. */
const UNSEEN = { systemPrompt: '', historyTokens: 0 };

/** A session of the real runtime, between a model and tools that do what was recorded, when it was recorded. */
export class ReplayedSession {
  readonly #parts: ReplayParts;
  readonly #bus: LocalBus;
  readonly #journal: Journal;
  readonly #model = new ReplayModel();
  readonly #tools: ReplayTools;
  readonly #turns: ReplayTurns;
  #actor: SessionActor;
  #forks = 0;

  constructor(parts: ReplayParts, recording: readonly SessionEvent[]) {
    const { store, log, live } = parts;
    this.#parts = parts;
    this.#bus = new LocalBus((error) => log.error({ err: error }, 'a listener failed'));
    this.#journal = new Journal(store, this.#bus);
    this.#tools = new ReplayTools(live?.tools);
    const { systemPrompt, historyTokens } = live ?? UNSEEN;
    const edges = { model: this.#model, catalog: this.#tools };
    const watchers = { bus: this.#bus, log, machines: new LiveMachines() };
    // What was kept of the reasoning is in the recording, and nothing else is given.
    const settings = { systemPrompt, historyTokens, keepReasoning: true };
    this.#turns = new ReplayTurns({ ...edges, ...watchers, ...settings }, recording, live);
    this.#actor = this.#actorOf('session', initialSessionState());
  }

  get state(): SessionState {
    return this.#actor.state;
  }

  async eventsAfter(seq: number): Promise<SessionEvent[]> {
    const envelopes = await this.#journal.read(this.#actor.sessionId, seq);
    return envelopes.map(({ event }) => event);
  }

  /** Goes on with a fork that takes over the first `at` events. @param from what the session was called until then. */
  async fork(from: string, at: number): Promise<void> {
    this.#actor.stop();
    this.#forks += 1;
    const [old, fork] = [this.#actor.sessionId, `fork-${this.#forks}`];
    const closing = decide(await this.#stateAt(old, at), { type: 'session.fork', from, at }, POLICY);
    await this.#journal.fork({ from: old, at, to: fork }, closing, REPLAY);
    this.#actor = this.#actorOf(fork, await this.#stateAt(fork));
  }

  /** @returns why nothing could come of it, if it is known. */
  async bringAbout(input: RecordedInput): Promise<string | undefined> {
    try {
      const problem = await this.#act(input);
      await this.#actor.settled();
      return problem;
    } catch (error) {
      if (error instanceof ServiceError) return `it was refused: ${error.message}`;
      throw error;
    }
  }

  /** Ends what still goes on. */
  stop(): void {
    this.#actor.stop();
  }

  async #act(input: RecordedInput): Promise<string | undefined> {
    switch (input.type) {
      case 'message':
        return this.#afterSaying(input.said, () => this.#actor.startTurn(input.message, REPLAY));
      case 'cancel':
        return this.#afterSaying(input.said, () => this.#actor.cancel(input.reason, REPLAY, input.turnId));
      case 'reset':
        return this.#afterSaying(input.said, () => this.#actor.reset(REPLAY, input.key));
      case 'deletion':
        return this.#afterSaying(input.said, () => this.#actor.markDeleted(REPLAY));
      case 'approval':
        return this.#afterSaying('', () => this.#actor.answerApproval(input.answer, REPLAY));
      case 'restart':
        return this.#afterSaying('', () => this.#restart());
      case 'reply':
        return this.#whenCalled((call) => this.#answer(call, input.reply));
      case 'model-failure':
        return this.#whenCalled((call) => this.#fail(call, input));
      case 'time-out':
        return this.#whenCalled((call) => this.#timeOut(call, input));
      case 'result':
        return this.#settle(input);
      case 'none':
        return undefined;
      default:
        return input satisfies never;
    }
  }

  /** @param said what the running step says before it, if anything. */
  async #afterSaying(said: string, act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = said === '' ? undefined : await this.#whenCalled((call) => call.say(said));
    if (problem === undefined) await act();
    return problem;
  }

  async #whenCalled(act: (call: ModelCall) => void | Promise<void>): Promise<string | undefined> {
    const { waiting } = this.#model;
    if (!waiting) return NOT_CALLED;
    await act(waiting);
    return undefined;
  }

  #answer(call: ModelCall, reply: RecordedReply): Promise<void> {
    const { live } = this.#parts;
    this.#tools.expect(reply.calls);
    return this.#turns.reportAfter(() => (live ? call.ask(live.model, reply) : call.answer(reply)));
  }

  #fail(
    call: ModelCall,
    { error, said }: Extract<RecordedInput, { said: string; error: object }>,
  ): Promise<void> {
    call.say(said);
    return this.#turns.reportAfter(() =>
      call.fail(new ServiceError(error.code, error.message, error.details)),
    );
  }

  /** Nobody waits that long for a live model: what is recorded of its time-out is taken as it is. */
  #timeOut(call: ModelCall, { cause, error, said }: Extract<RecordedInput, { type: 'time-out' }>): void {
    call.say(said);
    const turnId = this.state.open?.turnId;
    if (this.#parts.live && turnId !== undefined)
      this.#actor.report({ type: 'turn.fail', turnId, cause, error, partial: said }, REPLAY);
    else this.#turns.passTime(cause.stepTimeoutMs);
  }

  async #settle({
    callId,
    outcome,
  }: Extract<RecordedInput, { type: 'result' }>): Promise<string | undefined> {
    if (!this.#tools.isRunning(callId)) return 'the tool was not called';
    await this.#turns.reportAfter(() => this.#tools.settle(callId, outcome));
    return undefined;
  }

  /** As if the service had stopped and come back: all that is left is the log. */
  async #restart(): Promise<void> {
    this.#actor.stop();
    const { sessionId } = this.#actor;
    this.#actor = this.#actorOf(sessionId, await this.#stateAt(sessionId));
    await this.#actor.resume();
  }

  #actorOf(sessionId: string, state: SessionState): SessionActor {
    const { log } = this.#parts;
    const nobody = (): void => undefined;
    const watchers = { bus: this.#bus, log, onFault: nobody, onGrown: nobody };
    const parts = { journal: this.#journal, turns: this.#turns, policy: POLICY, ...watchers };
    return new SessionActor(sessionId, { state, last: undefined }, parts);
  }

  async #stateAt(sessionId: string, at?: number): Promise<SessionState> {
    const envelopes = await this.#journal.read(sessionId, 0, at);
    return envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
  }
}

/** Metadata is not compared. */
const REPLAY = serviceOrigin();

const NOT_CALLED = 'the model was not called';
