import type { GivenMessage } from '../../core/conversation/given-message.ts';
import { levelOfFailure, ServiceError, serviceStopping } from '../../core/errors.ts';
import type { SessionId, TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { AnswerCommand, SessionCommand } from '../../core/session/session-commands.ts';
import { decide, type SessionPolicy } from '../../core/session/session-decider.ts';
import type { SessionMetadata } from '../../core/session/session-metadata.ts';
import type { ReplyChunk, ReplyReasoning } from '../../core/session/session-signal.ts';
import { awaitsSomebody, leavesTurnOpen, type SessionState } from '../../core/session/session-state.ts';
import { shownTitle } from '../../core/session/session-title.ts';
import type { PendingApproval, PendingInput } from '../../core/session/session-view.ts';
import type { StartTurn } from '../../core/turn/turn-commands.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import { type AppendOptions, StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { CausingEvents } from '../turns/causing-events.ts';
import type { EarlyReply } from '../turns/early-reply.ts';
import type { TurnRun } from '../turns/turn-run.ts';
import type { TurnRunner } from '../turns/turn-runner.ts';
import { addendumOf } from './early-addendum.ts';
import { Mailbox } from './mailbox.ts';
import type { FoldedSession } from './session-fold.ts';
import { type RecordDeps, SessionRecord, type StateBasis } from './session-record.ts';
import { expiryOf, isWaitRequest, type WaitingCall, WaitingCalls } from './waiting-calls.ts';

/** A message that is in the log. `outcome` is set when it was sent before and its turn is over. */
export interface AcceptedTurn {
  readonly turnId: TurnId;
  readonly outcome?: TurnOutcome;
  /** The approvals that the turn before this message waits for, if there are any. */
  readonly waitsFor?: readonly PendingApproval[];
}

export interface SessionDeps extends RecordDeps {
  readonly bus: LocalBus;
  readonly turns: Pick<TurnRunner, 'callEarly' | 'hold' | 'start'>;
  readonly policy: SessionPolicy;
  readonly log: Logger;
  /**
   * Called when the session cannot go on. It must be loaded again from the log.
   * @returns whether its open turn goes on by itself.
   */
  readonly onFault: (session: SessionActor, error: unknown) => boolean;
  /** Called each time nothing is open in the session any more. */
  readonly onRest: (session: SessionActor) => void;
  /** A simulated one, in tests and replays. */
  readonly clock?: Clock;
  /** The time in milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A session as it is loaded. */
export interface LoadedSession extends Pick<FoldedSession, 'state' | 'last'> {
  /** The calls that wait for approval, or for their client. */
  readonly waitingCalls?: readonly WaitingCall[];
}

/**
 * One conversation in memory: its folded state, its mailbox, and the run of its open turn. Every change goes through
 * the mailbox, one command after the other, so the stream has one writer.
 */
export class SessionActor {
  readonly sessionId: SessionId;
  readonly #deps: SessionDeps;
  readonly #record: SessionRecord;
  readonly #mailbox = new Mailbox();
  #run: TurnRun | null = null;
  #faulted = false;
  #stopped = false;
  /** Null until a call waits for somebody. */
  #waitingCalls: WaitingCalls | null = null;
  readonly #onIdle: (() => void)[] = [];
  /** Set while the session is to be given up between two steps. */
  #onBoundary: (() => void) | null = null;
  #hasLeft = false;
  #isEphemeral = false;

  constructor(
    sessionId: SessionId,
    { state, last, waitingCalls = [] }: LoadedSession,
    deps: SessionDeps,
    basis: StateBasis = 'log',
  ) {
    this.sessionId = sessionId;
    this.#record = new SessionRecord(sessionId, { state, last }, deps, basis);
    this.#deps = deps;
    for (const call of waitingCalls) this.#await(call);
  }

  /** The folded log. Read only. */
  get state(): SessionState {
    return this.#record.state;
  }

  /** About how much memory the session takes. */
  get bytes(): number {
    return this.#record.bytes;
  }

  /** The events that effects of the running turn follow from. */
  get causes(): Pick<CausingEvents, 'last' | 'ofCall'> {
    return this.#record.causes;
  }

  /** The tool calls that wait for approval, oldest first. */
  get approvals(): readonly PendingApproval[] {
    return this.#waitingCalls?.approvals ?? [];
  }

  /** What tool servers ask, oldest first. */
  get inputs(): readonly PendingInput[] {
    return this.#waitingCalls?.inputs ?? [];
  }

  /** Everything the running step has streamed, as one chunk. */
  get running(): ReplyChunk | null {
    return this.#run?.streamed ?? null;
  }

  /** Everything the running step has thought aloud, as one piece. */
  get reasoning(): ReplyReasoning | null {
    return this.#run?.thought ?? null;
  }

  /** Resolves when the message is in the log. A message that was sent before resolves to its earlier turn. */
  startTurn(command: Omit<StartTurn, 'partial'>, origin: Origin): Promise<AcceptedTurn> {
    return this.#mailbox.put(async () => {
      await this.#handle({ ...command, partial: this.#partial }, origin);
      const known = command.key && this.state.keys.get(command.key.id);
      const turnId = known?.turnId ?? command.turnId;
      return { turnId, ...(known?.outcome && { outcome: known.outcome }), ...this.#waitOf(turnId) };
    });
  }

  /** What the turn waits for, if it waits behind a turn that needs approval. */
  #waitOf(turnId: TurnId): Pick<AcceptedTurn, 'waitsFor'> {
    const waitsFor = this.approvals;
    const isQueued = waitsFor.length > 0 && this.state.waiting.some((turn) => turn.turnId === turnId);
    return isQueued ? { waitsFor } : {};
  }

  /** Goes on with the turn that was open when the session was loaded. */
  async resume(): Promise<void> {
    await this.#mailbox.put(() => this.#handle({ type: 'turn.resume' }, serviceOrigin(this.causes.last)));
  }

  /** Cancels the running turn, or the turn with that id, running or waiting. Resolves to whether there was one. */
  cancel(reason: string, origin: Origin, wanted = this.state.open?.turnId): Promise<boolean> {
    return this.#mailbox.put(async () => {
      const { open, waiting } = this.state;
      // The message of a turn may still be on its way to the log while its model call is already seen.
      const turnId = wanted ?? open?.turnId;
      if (turnId === undefined) return false;
      const running = open?.turnId === turnId;
      if (!running && !waiting.some((turn) => turn.turnId === turnId)) return false;
      const partial = running ? this.#partial : '';
      await this.#handle({ type: 'turn.cancel', turnId, reason, partial }, origin);
      return true;
    });
  }

  /** Rejects when nothing with that id waits for such an answer, or the answer does not fit. */
  async answer(command: AnswerCommand, origin: Origin): Promise<void> {
    await this.#mailbox.put(() => this.#handle(command, origin));
  }

  async reset(origin: Origin, key?: IdempotencyKey): Promise<void> {
    await this.#mailbox.put(() =>
      this.#handle({ type: 'session.reset', partial: this.#partial, ...(key && { key }) }, origin),
    );
  }

  /** @returns the title that the session has now. */
  rename(title: string | null, origin: Origin): Promise<string | null> {
    return this.#mailbox.put(async () => {
      await this.#handle({ type: 'session.rename', title }, origin);
      return shownTitle(this.state.title);
    });
  }

  describe(metadata: SessionMetadata, origin: Origin): Promise<void> {
    return this.#mailbox.put(() => this.#handle({ type: 'session.describe', metadata }, origin));
  }

  /** Rejects while a turn is open. @returns the seq of the event. */
  extend(given: readonly GivenMessage[], origin: Origin): Promise<number> {
    return this.#mailbox.put(async () => {
      await this.#handle({ type: 'session.extend', given }, origin);
      return this.state.seq;
    });
  }

  /**
   * Cancels running and waiting turns, and records the deletion.
   * @param onlyAt does nothing unless the session's last event has this seq.
   * @returns whether the session is deleted.
   */
  markDeleted(origin: Origin, onlyAt?: number): Promise<boolean> {
    return this.#mailbox.put(async () => {
      await this.#handle({ type: 'session.delete', partial: this.#partial, onlyAt }, origin);
      return this.state.deleted;
    });
  }

  /**
   * Marks the session as not open in the log, if nothing is open in it. The mark of a repaired log says that a session may be
   * open, and each start would read the session again.
   */
  correctMark(): Promise<void> {
    return this.#mailbox.put(async () => {
      const { open, deleted, seq } = this.state;
      if (open || deleted || seq === 0 || this.#isEphemeral || this.#faulted || this.#hasLeft) return;
      await this.#record.append([], { open: false, origin: serviceOrigin() });
    });
  }

  /** Whether the session is to be deleted when its turn is over. Known once the turn has gone on here. */
  get isEphemeral(): boolean {
    return this.#isEphemeral;
  }

  /** Whether the session may leave memory. */
  get isIdle(): boolean {
    return this.state.open === null && this.#mailbox.isEmpty;
  }

  /** Takes the results of the running turn's effects. */
  readonly report = (command: SessionCommand, origin: Origin): void => {
    // #handle has dealt with the fault behind a rejection, and nobody waits for the result.
    this.#mailbox.put(() => this.#handle(command, origin)).catch(() => undefined);
  };

  /** Resolves when the mailbox is empty: every command so far, and those that followed from it at once, is handled. */
  settled(): Promise<void> {
    return this.#mailbox.emptied();
  }

  /** Whether all commands are handled, and nothing happens until a client does something. */
  get isAtRest(): boolean {
    return this.#mailbox.isEmpty && !this.#isWorking;
  }

  /** Resolves when the commands so far are handled and the session is at rest. */
  async idle(): Promise<void> {
    await this.#mailbox.handled;
    if (!this.#isWorking) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Ends the running turn without recording anything, and starts no other. The turn stays open in the log. */
  stop(): void {
    this.#stopped = true;
    this.#waitingCalls?.stop();
    this.#run?.stop();
    this.#run = null;
  }

  /** Resolves between two steps of the turn, or at once if none is running. From then on the session does nothing. */
  async handOver(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onBoundary = resolve;
    await this.#mailbox.put(async () => {
      if (!this.#isWorking) this.#leaveHere();
    });
    await promise;
  }

  /** The session does nothing any more. What was asked of it meanwhile is refused, for another process to do. */
  leave(): void {
    this.#hasLeft = true;
    this.stop();
  }

  #leaveHere(): void {
    this.leave();
    this.#onBoundary?.();
  }

  async #handle(command: SessionCommand, origin: Origin): Promise<void> {
    if (this.#hasLeft) throw new SessionElsewhereError(this.sessionId, null);
    if (this.#faulted)
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The session is being reloaded.', { retryAfter: 1 });
    // Nothing would run the call, and the next start would take it for one that was interrupted.
    if (this.#stopped && command.type === 'approval.answer' && command.approved) throw serviceStopping();
    try {
      const events = decide(this.state, command, this.#deps.policy);
      if (events.length > 0) await this.#apply(command, events, origin);
    } catch (error) {
      const isWrongGuess = !this.#record.isConfirmed && error instanceof StaleVersionError;
      if (!isWrongGuess && !(error instanceof ServiceError)) this.#fault(error);
      throw error;
    }
  }

  /** Records what was decided, and acts on it. */
  async #apply(command: SessionCommand, events: readonly SessionEvent[], origin: Origin): Promise<void> {
    // Before the append, so that nothing is streamed after the recorded partial text.
    if (events.some((event) => event.type === 'turn.cancelled' && event.turnId === this.#run?.turnId))
      this.#run?.cancel();
    this.#isEphemeral ||= isForgotten(this.state, events);
    // A session that is being deleted, or is to be, counts as open, so that the next start finishes the deletion.
    const isDeleted = command.type === 'session.delete' || this.#isEphemeral;
    const open = isDeleted || leavesTurnOpen(this.state, events);
    // After a wrong guess the model would have been asked for nothing.
    const isSure = this.#record.isCertain && !this.#stopped;
    const early = isSure ? this.#deps.turns.callEarly(this.state, events) : null;
    // The agent file may be read again while the events are on their way to the log.
    const release = events.some(beginsTurn) ? this.#deps.turns.hold() : undefined;
    try {
      const addendum = early && this.#withReply(early);
      const appended = await this.#record.append(events, { open, origin, ...(addendum && { addendum }) });
      if (early) this.#takeWithReply(appended, events.length, early);
      else this.#take(appended, null);
    } catch (error) {
      // What could not be recorded needs no reply.
      early?.abandon();
      throw error;
    } finally {
      release?.();
    }
    this.#settle();
  }

  /** A reply that is whole before the events are written is stored with them. */
  #withReply(early: EarlyReply): NonNullable<AppendOptions['addendum']> {
    return (recorded) =>
      this.#stopped ? null : addendumOf(early.step, recorded, this.#deps.policy, this.state);
  }

  /** Such a reply is still told, piece by piece, after the events. @param decided how many they are. */
  #takeWithReply(appended: readonly Envelope[], decided: number, early: EarlyReply): void {
    const added = appended.slice(decided);
    // A turn that is over in the log ends here too, although the session has been stopped meanwhile.
    const wanted = added.length > 0 || !this.#stopped;
    if (!wanted) early.abandon();
    this.#take(appended.slice(0, decided), wanted ? early : null);
    if (added.length > 0) this.#take(added, null);
  }

  /** Publishes what is durable, folds it in, and passes it on to the running turn. */
  #take(appended: readonly Envelope[], early: EarlyReply | null): void {
    this.#record.take(appended);
    this.#noteWaiting(appended);
    if (this.#onBoundary && isBoundary(appended, this.state)) {
      early?.abandon();
      this.#leaveHere();
      return;
    }
    for (const { event } of appended) this.#drive(event, early);
  }

  #noteWaiting(appended: readonly Envelope[]): void {
    for (const { event, time } of appended)
      if (isWaitRequest(event)) this.#await({ request: event, since: time });
    this.#waitingCalls?.keep(this.state.open);
  }

  #await(call: WaitingCall): void {
    const { clock = systemClock, now = Date.now } = this.#deps;
    this.#waitingCalls ??= new WaitingCalls({
      clock,
      now,
      onExpired: (request) => this.report(expiryOf(request), serviceOrigin(this.causes.last)),
    });
    this.#waitingCalls.add(call);
  }

  /** Passes an event to the running turn, or starts the turn that has begun. */
  #drive(event: SessionEvent, early: EarlyReply | null): void {
    switch (event.type) {
      case 'turn.started':
      case 'turn.resumed':
        if (early || !this.#stopped) this.#run = this.#deps.turns.start(this, early, event.agentVersion);
        return;
      case 'step.completed':
      case 'output.rejected':
      case 'approval.requested':
      case 'approval.granted':
      case 'tool-call.delegated':
      case 'input.requested':
      case 'input.answered':
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.cancelled':
        if (this.#run?.turnId === event.turnId) this.#run.tell(event);
        return;
      case 'turn.requested':
      case 'tool-call.requested':
      case 'sampling.completed':
      case 'session.reset':
      case 'session.renamed':
      case 'session.described':
      case 'session.extended':
      case 'session.forked':
      case 'session.deleted':
        return;
      default:
        event satisfies never;
    }
  }

  /** The text that the running step has streamed. */
  get #partial(): string {
    return this.#run?.partial ?? '';
  }

  #settle(): void {
    if (!this.state.open) {
      this.#run = null;
      this.#deps.onRest(this);
    }
    if (!this.#isWorking) this.#release();
  }

  /** Whether something happens before a client does something. */
  get #isWorking(): boolean {
    return this.state.open !== null && !this.#stopped && !awaitsSomebody(this.state);
  }

  #release(): void {
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /**
   * An event could not be recorded, so memory and log may differ. The session leaves memory, and is folded again from the
   * log when it is used.
   */
  #fault(error: unknown): void {
    // Both have begun the session, and nothing is lost: whoever asked is answered by the other node.
    const isSecond = error instanceof StaleVersionError && this.state.seq === 0;
    if (isSecond)
      this.#deps.log.debug({ sessionId: this.sessionId }, 'another node has begun the session first');
    else
      this.#deps.log[levelOfFailure(error)](
        { sessionId: this.sessionId, turnId: this.state.open?.turnId, err: error },
        'a session was unloaded: its event could not be recorded',
      );
    this.#faulted = true;
    // A turn that could not even be resumed was interrupted before, and that was told.
    const wasRunning = this.#run !== null;
    this.stop();
    const continues = this.#deps.onFault(this, error);
    // The rejection tells the caller of the command. Those who wait for the running turn learn it from this signal.
    if (this.state.open && wasRunning) {
      this.#deps.bus.publish({
        type: 'session.fault',
        sessionId: this.sessionId,
        error: (continues ? interrupted() : givenUp()).body,
      });
    }
    this.#release();
  }
}

/** Whether the turn is over, or goes on with a model call that has not begun. No tool call is between its two events then. */
function isBoundary(appended: readonly Envelope[], state: SessionState): boolean {
  if (!state.open || awaitsSomebody(state)) return true;
  return state.open.unsettled.size === 0 && appended.some(({ event }) => BEFORE_STEP.has(event.type));
}

const BEFORE_STEP: ReadonlySet<SessionEvent['type']> = new Set([
  ...(['turn.started', 'turn.resumed', 'step.completed', 'output.rejected'] as const),
  ...(['tool-call.succeeded', 'tool-call.failed', 'tool-call.interrupted'] as const),
]);

/** Not a refusal, even if the disk is full: the message is in the log, and would be answered twice if it were sent again. */
function interrupted(): ServiceError {
  const message =
    'The turn was interrupted: what came of it could not be recorded. It goes on by itself later.';
  return new ServiceError('INTERNAL_ERROR', message, { continues: true });
}

/** It would ask the model for ever. */
function givenUp(): ServiceError {
  const message =
    'The turn was interrupted again and again: what came of it could not be recorded. It does not go on by itself.';
  const suggestion =
    'When the service can record again, send another message in this session: the turn goes on before it, and at the next start of the service, too.';
  return new ServiceError('INTERNAL_ERROR', message, { continues: false, suggestion });
}

function beginsTurn({ type }: SessionEvent): boolean {
  return type === 'turn.started' || type === 'turn.resumed';
}

function isForgotten({ open }: SessionState, [first]: readonly SessionEvent[]): boolean {
  const options = first?.type === 'turn.requested' ? first.options : open?.options;
  return options?.ephemeral === true;
}
