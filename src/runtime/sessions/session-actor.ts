import { ServiceError } from '../../core/errors.ts';
import type { SessionId, TurnId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import type { SessionCommand } from '../../core/session/session-commands.ts';
import { decide, type SessionPolicy } from '../../core/session/session-decider.ts';
import type { ReplyChunk, ReplyReasoning } from '../../core/session/session-signal.ts';
import { awaitsApproval, evolve, opensTurn, type SessionState } from '../../core/session/session-state.ts';
import type { AnswerApproval } from '../../core/tool-call/tool-call-commands.ts';
import type { StartTurn } from '../../core/turn/turn-commands.ts';
import type { TurnOutcome } from '../../core/turn/turn-outcome.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import { serviceOrigin } from '../requests/request-origin.ts';
import type { TurnRun } from '../turns/turn-run.ts';
import type { TurnRunner } from '../turns/turn-runner.ts';
import { CausingEvents } from './causing-events.ts';
import type { Journal } from './journal.ts';
import { Mailbox } from './mailbox.ts';
import type { FoldedSession } from './session-fold.ts';
import type { Grown } from './session-snapshots.ts';

/** A message that is in the log. With an outcome when it had been there before, and its turn is over. */
export interface AcceptedTurn {
  readonly turnId: TurnId;
  readonly outcome?: TurnOutcome;
}

export interface SessionParts {
  readonly journal: Journal;
  readonly bus: LocalBus;
  readonly turns: Pick<TurnRunner, 'start'>;
  readonly policy: SessionPolicy;
  readonly log: Log;
  /** Called when the session cannot go on; it is to be loaded anew from the log. */
  readonly onFault: (session: SessionActor) => void;
  /** Called when events were folded in. */
  readonly onGrown: Grown;
}

/**
 * One conversation while it is in memory: its folded state, its mailbox, and the run of its open turn.
 * Everything that changes the session goes through the mailbox, one command after the other, so the
 * stream has one writer.
 */
export class SessionActor {
  readonly sessionId: SessionId;
  readonly #parts: SessionParts;
  #state: SessionState;
  readonly #causes: CausingEvents;
  readonly #mailbox = new Mailbox();
  #run: TurnRun | null = null;
  #faulted = false;
  #stopped = false;
  /** Until its first event is in the log. */
  #isPresumed: boolean;
  readonly #onIdle: (() => void)[] = [];

  /** @param isPresumed whether the state is a guess. That the log has something else is then no fault: whoever guessed deals with it. */
  constructor(
    sessionId: SessionId,
    { state, last }: Pick<FoldedSession, 'state' | 'last'>,
    parts: SessionParts,
    isPresumed = false,
  ) {
    this.sessionId = sessionId;
    this.#state = state;
    this.#causes = new CausingEvents(last);
    this.#parts = parts;
    this.#isPresumed = isPresumed;
  }

  /** What the log says, up to now. To be read only. */
  get state(): SessionState {
    return this.#state;
  }

  /** What the effects of the running turn follow from. */
  get causes(): Pick<CausingEvents, 'last' | 'ofCall'> {
    return this.#causes;
  }

  /** All that the running step has streamed so far, as one chunk. */
  get running(): ReplyChunk | null {
    return this.#run?.streamed ?? null;
  }

  /** All that the running step has thought aloud so far, as one piece. */
  get reasoning(): ReplyReasoning | null {
    return this.#run?.thought ?? null;
  }

  /** Resolves when the message is in the log: to its turn, or to the turn of the same message that came before. */
  startTurn(command: Omit<StartTurn, 'partial'>, origin: Origin): Promise<AcceptedTurn> {
    return this.#mailbox.put(async () => {
      await this.#handle({ ...command, partial: this.#partial }, origin);
      const known = command.key && this.#state.keys.get(command.key.id);
      return { turnId: known?.turnId ?? command.turnId, ...(known?.outcome && { outcome: known.outcome }) };
    });
  }

  /** Goes on with the turn that was open when the session was loaded. */
  async resume(): Promise<void> {
    await this.#mailbox.put(() => this.#handle({ type: 'turn.resume' }, serviceOrigin(this.#causes.last)));
  }

  /** Stops the running turn, or the one of that id, also while it waits. Resolves to whether there was one. */
  cancel(reason: string, origin: Origin, turnId = this.#state.open?.turnId): Promise<boolean> {
    return this.#mailbox.put(async () => {
      const { open, waiting } = this.#state;
      if (turnId === undefined) return false;
      const running = open?.turnId === turnId;
      if (!running && !waiting.some((turn) => turn.turnId === turnId)) return false;
      const partial = running ? this.#partial : '';
      await this.#handle({ type: 'turn.cancel', turnId, reason, partial }, origin);
      return true;
    });
  }

  /** Rejects when no tool call of that id waits for approval. */
  async answerApproval(command: AnswerApproval, origin: Origin): Promise<void> {
    await this.#mailbox.put(() => this.#handle(command, origin));
  }

  async reset(origin: Origin, key?: IdempotencyKey): Promise<void> {
    await this.#mailbox.put(() =>
      this.#handle({ type: 'session.reset', partial: this.#partial, ...(key && { key }) }, origin),
    );
  }

  /** Cancels what runs and waits, and records that nothing follows. */
  async markDeleted(origin: Origin): Promise<void> {
    await this.#mailbox.put(() => this.#handle({ type: 'session.delete', partial: this.#partial }, origin));
  }

  /** Whether nothing is going on, so that it may leave memory. */
  get isIdle(): boolean {
    return this.#state.open === null && this.#mailbox.isEmpty;
  }

  /** The way back of what the running turn has asked for. */
  readonly report = (command: SessionCommand, origin: Origin): void => {
    // A rejection means a fault, which #handle has dealt with: there is nobody here to tell.
    this.#mailbox.put(() => this.#handle(command, origin)).catch(() => undefined);
  };

  /** Resolves when all that the session was told so far is in the log, with what it brought about at once. */
  settled(): Promise<void> {
    return this.#mailbox.emptied();
  }

  /** Resolves when what the session was told so far is in the log, and nothing goes on by itself. */
  async idle(): Promise<void> {
    await this.#mailbox.handled;
    if (this.#isAtRest) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Ends the running turn without recording anything, and begins no other; the log still has them open. */
  stop(): void {
    this.#stopped = true;
    this.#run?.stop();
    this.#run = null;
  }

  async #handle(command: SessionCommand, origin: Origin): Promise<void> {
    if (this.#faulted)
      throw new ServiceError('SERVICE_UNAVAILABLE', 'The session is being reloaded.', { retryAfter: 1 });
    try {
      await this.#apply(command, origin);
    } catch (error) {
      const isWrongGuess = this.#isPresumed && error instanceof StaleVersionError;
      if (!isWrongGuess && !(error instanceof ServiceError)) this.#fault(error);
      throw error;
    }
  }

  async #apply(command: SessionCommand, origin: Origin): Promise<void> {
    const events = decide(this.#state, command, this.#parts.policy);
    if (events.length === 0) return;
    // At once, so that nothing is streamed after what will be recorded as the partial text.
    if (events.some((event) => event.type === 'turn.cancelled' && event.turnId === this.#run?.turnId))
      this.#run?.cancel();
    // A session that is being deleted counts as open, so that the next start finishes what this one began.
    const open = command.type === 'session.delete' || opensTurn(this.#state, events);
    const { seq } = this.#state;
    const appended = await this.#parts.journal.append(this.sessionId, seq, events, { open, origin });
    this.#causes.note(appended);
    this.#isPresumed = false;
    this.#state = events.reduce(evolve, this.#state);
    const last = appended.at(-1);
    if (last) this.#parts.onGrown(this.#state, last);
    for (const event of events) this.#drive(event);
    this.#settle();
  }

  /** Tells the running turn what has become true, or starts the run of the turn that has begun. */
  #drive(event: SessionEvent): void {
    switch (event.type) {
      case 'turn.started':
      case 'turn.resumed':
        if (!this.#stopped) this.#run = this.#parts.turns.start(this);
        return;
      case 'step.completed':
      case 'approval.requested':
      case 'approval.granted':
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
      case 'session.reset':
      case 'session.forked':
      case 'session.deleted':
        return;
      default:
        event satisfies never;
    }
  }

  /** What the running step has said so far. */
  get #partial(): string {
    return this.#run?.partial ?? '';
  }

  #settle(): void {
    if (!this.#state.open) this.#run = null;
    if (this.#isAtRest) this.#release();
  }

  /** Nothing goes on by itself. */
  get #isAtRest(): boolean {
    return !this.#state.open || this.#stopped || awaitsApproval(this.#state);
  }

  #release(): void {
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /**
   * What was to be recorded could not be, so memory and log may differ: the session leaves memory and is
   * folded anew when it is used again.
   */
  #fault(error: unknown): void {
    this.#parts.log.error(
      { sessionId: this.sessionId, turnId: this.#state.open?.turnId, err: error },
      'a session was unloaded: its event could not be recorded',
    );
    this.#faulted = true;
    this.stop();
    this.#parts.onFault(this);
    // Whoever gave the command is told by its rejection; those whose turns were under way are not.
    if (this.#state.open) {
      this.#parts.bus.publish({
        type: 'session.fault',
        sessionId: this.sessionId,
        error: interrupted().body,
      });
    }
    this.#release();
  }
}

/** No refusal, also where the disk is full: the message is in the log, and one that is sent again is answered twice. */
function interrupted(): ServiceError {
  const message =
    'The turn was interrupted: what came of it could not be recorded. It goes on by itself later.';
  return new ServiceError('INTERNAL_ERROR', message);
}
