import { ServiceError } from '../core/errors.ts';
import type { SessionEvent } from '../core/log/events.ts';
import { serviceOrigin } from '../core/request/request-origin.ts';
import { decide, type SessionPolicy } from '../core/session/session-decider.ts';
import { evolve, initialSessionState, type SessionState } from '../core/session/session-state.ts';
import type { TurnLimits } from '../core/turn/turn-limits.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { LanguageModel } from '../ports/language-model.ts';
import type { Logger } from '../ports/logger.ts';
import type { TurnTools } from '../ports/turn-tools.ts';
import { LocalBus } from '../runtime/bus/local-bus.ts';
import { LiveMachines } from '../runtime/machines/live-machines.ts';
import { Journal } from '../runtime/sessions/journal.ts';
import { SessionActor, type SessionDeps } from '../runtime/sessions/session-actor.ts';
import type { RecordedClosing } from './recorded-closings.ts';
import type { RecordedInput, RecordedReply } from './recorded-input.ts';
import { type ReplayCall, ReplayModel } from './replay-model.ts';
import { ReplayTools } from './replay-tools.ts';
import { ReplayTurns } from './replay-turns.ts';

/** The agent of a live replay, which asks a model instead of taking the recorded replies. */
export interface LiveAgent extends TurnLimits {
  readonly model: LanguageModel;
  readonly systemPrompt: string;
  readonly historyTokens: number;
  /** The tools that the model is offered. None of them is called. */
  readonly tools: Pick<TurnTools, 'forModel' | 'outputIssue'>;
}

export interface ReplayDeps {
  /** An empty store in memory, which takes the events of the replay. */
  readonly store: EventStore;
  readonly log: Logger;
  readonly live?: LiveAgent | undefined;
}

/** All recorded messages had been accepted, and each has a `whenBusy` of its own. */
const POLICY: SessionPolicy = { queuedMessages: false, whenBusy: 'enqueue' };

/** The recorded model ignores what it is shown, so that is as little as possible. */
const UNSEEN = { systemPrompt: '', historyTokens: 0 };

/** A session of the real runtime. Only its model and its tools are replaced, by those of the recording. */
export class ReplayedSession {
  readonly #deps: ReplayDeps;
  readonly #bus: LocalBus;
  readonly #journal: Journal;
  readonly #model = new ReplayModel();
  readonly #tools: ReplayTools;
  readonly #turns: ReplayTurns;
  #actor: SessionActor;
  #forks = 0;

  constructor(deps: ReplayDeps, recording: readonly SessionEvent[]) {
    const { store, log, live } = deps;
    this.#deps = deps;
    this.#bus = new LocalBus((error) => log.error({ err: error }, 'a listener failed'));
    this.#journal = new Journal(store, this.#bus);
    this.#tools = new ReplayTools(live?.tools);
    const { systemPrompt, historyTokens } = live ?? UNSEEN;
    const edges = { model: this.#model, catalog: this.#tools };
    const watchers = { bus: this.#bus, log, machines: new LiveMachines() };
    // The recording has only reasoning that was kept, so all of it is kept again.
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

  /** Continues as a session that has the first `at` events, and then those of the closing. */
  async close(command: RecordedClosing, at: number): Promise<void> {
    this.#actor.stop();
    this.#forks += 1;
    const [old, fork] = [this.#actor.sessionId, `fork-${this.#forks}`];
    const closing = decide(await this.#stateAt(old, at), command, POLICY);
    await this.#journal.fork({ from: old, at, to: fork }, closing, { origin: REPLAY });
    this.#actor = this.#actorOf(fork, await this.#stateAt(fork));
  }

  /** Gives the session an input. @returns why the input could cause no event, if that is known. */
  async apply(input: RecordedInput): Promise<string | undefined> {
    try {
      const problem = await this.#act(input);
      await this.#actor.settled();
      return problem;
    } catch (error) {
      if (error instanceof ServiceError) return `it was refused: ${error.message}`;
      throw error;
    }
  }

  /** Stops the turn that is still open. */
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
      case 'rename':
        return this.#afterSaying('', () => this.#actor.rename(input.title, REPLAY));
      case 'description':
        return this.#afterSaying('', () => this.#actor.describe(input.metadata, REPLAY));
      case 'extension':
        return this.#afterSaying('', () => this.#actor.extend(input.given, REPLAY));
      case 'deletion':
        return this.#afterSaying(input.said, () => this.#actor.markDeleted(REPLAY));
      case 'approval':
      case 'answer':
        return this.#afterSaying('', () => this.#actor.answer(input.answer, REPLAY));
      case 'question':
        this.#actor.report(input.command, REPLAY);
        return undefined;
      case 'expiry':
        this.#actor.report(input.expired, REPLAY);
        return undefined;
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

  /** @param said the text that the running step streams before; empty if there is none. */
  async #afterSaying(said: string, act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = said === '' ? undefined : await this.#whenCalled((call) => call.say(said));
    if (problem === undefined) await act();
    return problem;
  }

  async #whenCalled(act: (call: ReplayCall) => void | Promise<void>): Promise<string | undefined> {
    const { waiting } = this.#model;
    if (!waiting) return NOT_CALLED;
    await act(waiting);
    return undefined;
  }

  #answer(call: ReplayCall, reply: RecordedReply): Promise<void> {
    const { live } = this.#deps;
    this.#tools.expect(reply.calls, reply.outputIssue);
    return this.#turns.reportAfter(() => (live ? call.ask(live.model, reply) : call.answer(reply)));
  }

  #fail(
    call: ReplayCall,
    { error, said }: Extract<RecordedInput, { said: string; error: object }>,
  ): Promise<void> {
    call.say(said);
    return this.#turns.reportAfter(() =>
      call.fail(new ServiceError(error.code, error.message, error.details)),
    );
  }

  /** A live replay does not wait for a time-out. It reports the recorded failure. */
  #timeOut(call: ReplayCall, { cause, error, said }: Extract<RecordedInput, { type: 'time-out' }>): void {
    call.say(said);
    const turnId = this.state.open?.turnId;
    if (this.#deps.live && turnId !== undefined)
      this.#actor.report({ type: 'turn.fail', turnId, cause, error, partial: said }, REPLAY);
    else this.#turns.passTime(cause.stepTimeoutMs);
  }

  async #settle({
    callId,
    outcome,
  }: Extract<RecordedInput, { type: 'result' }>): Promise<string | undefined> {
    if (this.state.open?.delegated.has(callId)) {
      await this.#actor.answer({ type: 'tool-call.answer', callId, outcome }, REPLAY);
      return undefined;
    }
    if (!this.#tools.isRunning(callId)) return 'the tool was not called';
    await this.#turns.reportAfter(() => this.#tools.settle(callId, outcome));
    return undefined;
  }

  /** As after a restart of the service: only the log is left. */
  async #restart(): Promise<void> {
    this.#actor.stop();
    const { sessionId } = this.#actor;
    this.#actor = this.#actorOf(sessionId, await this.#stateAt(sessionId));
    await this.#actor.resume();
  }

  #actorOf(sessionId: string, state: SessionState): SessionActor {
    const { log } = this.#deps;
    const nobody = (): void => undefined;
    const watchers = { bus: this.#bus, log, onFault: () => false, onRest: nobody, onGrown: nobody };
    const parts = { journal: this.#journal, turns: this.#turns, policy: POLICY, clock: STILL, ...watchers };
    return new SessionActor(sessionId, { state, last: undefined }, parts);
  }

  async #stateAt(sessionId: string, at?: number): Promise<SessionState> {
    const envelopes = await this.#journal.read(sessionId, 0, at);
    return envelopes.reduce((folded, { event }) => evolve(folded, event), initialSessionState());
  }
}

/** The origin of all events of a replay, which does not compare metadata. */
const REPLAY = serviceOrigin();

/** An approval expires when the recording says so. */
const STILL: NonNullable<SessionDeps['clock']> = {
  setTimeout: () => undefined,
  clearTimeout: () => undefined,
};

const NOT_CALLED = 'the model was not called';
