import type { GivenMessage } from '../../core/conversation/given-message.ts';
import { ServiceError, serviceStopping } from '../../core/errors.ts';
import type { SessionId, TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { AnswerCommand, SessionCommand } from '../../core/session/session-commands.ts';
import { decide } from '../../core/session/session-decider.ts';
import type { SessionMetadata } from '../../core/session/session-metadata.ts';
import type { ReplyChunk, ReplyReasoning } from '../../core/session/session-signal.ts';
import { awaitsSomebody, leavesTurnOpen, type SessionState } from '../../core/session/session-state.ts';
import { shownTitle } from '../../core/session/session-title.ts';
import type { PendingApproval, PendingInput } from '../../core/session/session-view.ts';
import type { StartTurn } from '../../core/turn/turn-commands.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { CausingEvents } from '../turns/causing-events.ts';
import type { EarlyReply } from '../turns/early-reply.ts';
import { Mailbox } from './mailbox.ts';
import { logFault, turnFault } from './session-fault.ts';
import type { FoldedSession } from './session-fold.ts';
import { type RecordDeps, SessionRecord, type StateBasis } from './session-record.ts';
import { SessionTurn, type SessionTurnDeps } from './session-turn.ts';
import { isTurnBoundary } from './turn-boundary.ts';
import { expiryOf, isWaitRequest, type WaitingCall, WaitingCalls } from './waiting-calls.ts';

/** A message that is in the log. `outcome` is set when it was sent before and its turn is over. */
export interface AcceptedTurn {
  readonly turnId: TurnId;
  readonly outcome?: TurnOutcome;
  /** The approvals that the turn before this message waits for, if there are any. */
  readonly waitsFor?: readonly PendingApproval[];
}

export interface SessionDeps extends RecordDeps, SessionTurnDeps {
  readonly bus: LocalBus;
  readonly log: Logger;
  /**
   * Called when the session cannot go on, and must be loaded again from the log.
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
  readonly #turn: SessionTurn;
  #faulted = false;
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
    this.#turn = new SessionTurn(this, deps);
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
    return this.#turn.streamed;
  }

  /** Everything the running step has thought aloud, as one piece. */
  get reasoning(): ReplyReasoning | null {
    return this.#turn.thought;
  }

  /** Resolves when the message is in the log. A message that was sent before resolves to its earlier turn. */
  startTurn(command: Omit<StartTurn, 'partial'>, origin: Origin): Promise<AcceptedTurn> {
    return this.#mailbox.put(async () => {
      await this.#handle({ ...command, partial: this.#turn.partial }, origin);
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
      const partial = running ? this.#turn.partial : '';
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
      this.#handle({ type: 'session.reset', partial: this.#turn.partial, ...(key && { key }) }, origin),
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
      await this.#handle({ type: 'session.delete', partial: this.#turn.partial, onlyAt }, origin);
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
    this.#waitingCalls?.stop();
    this.#turn.stop();
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

  /** From now on the session does nothing. The commands in its mailbox are refused, so that another process handles them. */
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
    // The call would not run, and the next start would take it for one that was interrupted.
    if (this.#turn.isStopped && command.type === 'approval.answer' && command.approved)
      throw serviceStopping();
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
    this.#turn.cancelBy(events);
    this.#isEphemeral ||= isForgotten(this.state, events);
    // A session that is being deleted, or is to be, counts as open, so that the next start finishes the deletion.
    const isDeleted = command.type === 'session.delete' || this.#isEphemeral;
    const open = isDeleted || leavesTurnOpen(this.state, events);
    // If the session is only presumed to be new, the call may be for nothing.
    const early = this.#record.isCertain ? this.#turn.callEarly(events) : null;
    const release = this.#turn.holdVersion(events);
    try {
      const addendum = early && this.#turn.addendum(early);
      const appended = await this.#record.append(events, { open, origin, ...(addendum && { addendum }) });
      if (early) this.#takeWithReply(appended, events.length, early);
      else this.#take(appended, null);
    } catch (error) {
      // A message that could not be recorded needs no reply.
      early?.abandon();
      throw error;
    } finally {
      release?.();
    }
    this.#settle();
  }

  /**
   * Takes the decided events, and then those of the addendum, if the log has one. The early reply is streamed in between, also
   * if the addendum already has it. @param decided how many of the events were decided.
   */
  #takeWithReply(appended: readonly Envelope[], decided: number, early: EarlyReply): void {
    const added = appended.slice(decided);
    // A turn that has ended in the log ends here, too, even if the session was stopped meanwhile.
    const wanted = added.length > 0 || !this.#turn.isStopped;
    if (!wanted) early.abandon();
    this.#take(appended.slice(0, decided), wanted ? early : null);
    if (added.length > 0) this.#take(added, null);
  }

  /** Publishes what is durable, folds it in, and passes it on to the running turn. */
  #take(appended: readonly Envelope[], early: EarlyReply | null): void {
    this.#record.take(appended);
    this.#noteWaiting(appended);
    if (this.#onBoundary && isTurnBoundary(appended, this.state)) {
      early?.abandon();
      this.#leaveHere();
      return;
    }
    for (const { event } of appended) this.#turn.take(event, early);
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

  #settle(): void {
    if (!this.state.open) {
      this.#turn.clear();
      this.#deps.onRest(this);
    }
    if (!this.#isWorking) this.#release();
  }

  /** Whether the open turn goes on without a client. */
  get #isWorking(): boolean {
    return this.state.open !== null && !this.#turn.isStopped && !awaitsSomebody(this.state);
  }

  #release(): void {
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /**
   * An event could not be recorded, so memory and log may differ. The session leaves memory, and is folded again from the
   * log when it is used.
   */
  #fault(error: unknown): void {
    logFault(this.#deps.log, this, error);
    this.#faulted = true;
    // If a turn could not even be resumed, its clients were told of the interruption before.
    const wasRunning = this.#turn.isRunning;
    this.stop();
    const continues = this.#deps.onFault(this, error);
    // The rejection tells the caller of the command. Those who wait for the running turn learn it from this signal.
    if (this.state.open && wasRunning) {
      this.#deps.bus.publish({
        type: 'session.fault',
        sessionId: this.sessionId,
        error: turnFault(continues).body,
      });
    }
    this.#release();
  }
}

function isForgotten({ open }: SessionState, [first]: readonly SessionEvent[]): boolean {
  const options = first?.type === 'turn.requested' ? first.options : open?.options;
  return options?.ephemeral === true;
}
