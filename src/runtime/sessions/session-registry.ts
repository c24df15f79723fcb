import type { GivenMessage } from '../../core/conversation/given-message.ts';
import { levelOfFailure, ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { mayBeStored, StorageAwayError } from '../../core/log/storage-away.ts';
import { isSession } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { givenBytes, sentBytes } from '../../core/session/retained-bytes.ts';
import { positionAt, type SessionPosition } from '../../core/session/session-position.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import type { Clock } from '../../timing/clock.ts';
import { DepartingSessions, type OnLeft } from './departing-sessions.ts';
import { EphemeralSessions } from './ephemeral-sessions.ts';
import { FaultRecovery } from './fault-recovery.ts';
import { ForksUnderWay } from './forks-under-way.ts';
import type { NewFork } from './journal.ts';
import { LoadedSessions, type LoadedSessionsDeps, type SessionsInMemory } from './loaded-sessions.ts';
import type { AcceptedTurn, SessionActor } from './session-actor.ts';
import { type LoaderDeps, SessionLoader } from './session-loader.ts';
import type { WorkingMemory } from './working-memory.ts';

export interface RegistryDeps extends Omit<LoaderDeps, 'onFault' | 'onRest'>, LoadedSessionsDeps {
  readonly workingMemory: WorkingMemory;
  /** A simulated one, in tests. */
  readonly clock?: Clock;
}

type Message = Parameters<SessionActor['startTurn']>[0];
/** A message on its way into its session. */
interface IncomingTurn {
  readonly message: Message;
  readonly origin: Origin;
  readonly bytes: number;
}

/** Finds the actor of a session, or has it loaded. */
export class SessionRegistry {
  readonly #deps: RegistryDeps;
  readonly #loader: SessionLoader;
  readonly #inMemory: LoadedSessions;
  readonly #recovery: FaultRecovery;
  readonly #ephemeral: EphemeralSessions;
  readonly #departing: DepartingSessions;
  readonly #erasing = new Map<SessionActor, Promise<void>>();
  readonly #forks = new ForksUnderWay();

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
    this.#inMemory = new LoadedSessions(deps);
    deps.workingMemory.countSessions(() => this.#inMemory.all);
    this.#recovery = new FaultRecovery({ ...deps, load: (sessionId) => this.#goOn(sessionId) });
    this.#ephemeral = new EphemeralSessions({
      ...deps,
      remove: (sessionId, onlyAt) => this.#deleteIfThere(sessionId, onlyAt),
    });
    this.#departing = new DepartingSessions({
      inMemory: this.#inMemory,
      onStopping: () => {
        this.#recovery.stop();
        this.#ephemeral.stop();
      },
      erasureOf: (session) => this.#erasing.get(session),
    });
    this.#loader = new SessionLoader({
      ...deps,
      onFault: (session, error) => this.#unloadFaulted(session, error),
      onRest: (session) => {
        this.#inMemory.rested(session);
        this.#recovery.forget(session.sessionId);
        if (session.isEphemeral && !session.state.deleted) this.#ephemeral.deleteLater(session.sessionId);
      },
    });
  }

  /** Rejects when the log cannot be read. The next call tries again. */
  session(sessionId: SessionId): Promise<SessionActor> {
    return this.#inMemory.find(sessionId) ?? this.#inMemory.enter(sessionId, this.#load(sessionId));
  }

  /** Seq of the session's last event, and what its running step has streamed. Does not load a session in which nothing is open. */
  async position(sessionId: SessionId): Promise<SessionPosition> {
    if (!this.#inMemory.has(sessionId)) {
      const known = await this.#deps.journal.session(sessionId);
      // An open turn, or a deletion that was cut off, goes on when the session is loaded.
      if (!known?.open) return positionAt(known?.head ?? 0);
    }
    try {
      const { state, running, reasoning } = await this.session(sessionId);
      return { head: state.seq, running, reasoning };
    } catch (error) {
      if (error instanceof SessionElsewhereError) throw error;
      // The session cannot go on now, and its failure was reported. The log can be read all the same.
      const known = await this.#deps.journal.session(sessionId);
      return positionAt(known?.head ?? 0);
    }
  }

  /** Resolves when nothing runs in the session any more: at once if it is not in memory. */
  async atRest(sessionId: SessionId): Promise<void> {
    // Nothing runs in a session that could not be loaded.
    const session = await this.#inMemory.find(sessionId)?.catch(() => undefined);
    await session?.idle();
  }

  /** The sessions that are in memory. */
  get loaded(): SessionsInMemory {
    return this.#inMemory;
  }

  /** Whether the service is stopping and takes no more messages. */
  get isDraining(): boolean {
    return this.#departing.isDraining;
  }

  /** Goes on with the turns that were open when the service stopped, and with deletions that were cut off. */
  async recover(): Promise<void> {
    for (const { sessionId } of await this.#deps.journal.sessions({ open: true })) {
      // The stream may belong to an agent that the service no longer has.
      if (!isSession(sessionId)) continue;
      try {
        await this.goOn(sessionId);
      } catch (error) {
        this.#deps.log[levelOfFailure(error)](
          { sessionId, err: error },
          'a session with an open turn could not be loaded',
        );
      }
    }
  }

  /**
   * Loads a session that counts as open, which continues its turn or its deletion. Rejects if the session cannot be loaded.
   * If the log is away, the load is tried again later.
   */
  async goOn(sessionId: SessionId): Promise<void> {
    try {
      await this.#goOn(sessionId);
    } catch (error) {
      if (!(error instanceof SessionElsewhereError) && !this.#recovery.has(sessionId)) {
        if (error instanceof StorageAwayError) this.#recovery.loadLater(sessionId, null);
        else this.#recovery.giveUp(sessionId);
      }
      throw error;
    }
  }

  async #goOn(sessionId: SessionId): Promise<void> {
    const session = await this.session(sessionId);
    if (session.isIdle && !(await this.#ephemeral.deleteLeftover(sessionId))) await session.correctMark();
  }

  /** @returns the new session. Rejects if `to` exists. After an error that `mayBeStored`, the log may have the fork all the same. */
  async fork(fork: NewFork, origin: Origin): Promise<SessionActor> {
    const { from, to, ephemeral } = fork;
    const before = (this.#inMemory.find(to) ?? this.#load(to)).catch((error: unknown) => {
      throw error instanceof SessionElsewhereError ? sessionExists(to) : error;
    });
    const forked = before.then(async (exists) => {
      // A message to the session may be on its way to the log.
      if (exists.state.seq > 0 || !exists.isIdle) throw sessionExists(to);
      await this.#erasureOf(from);
      return this.#forks.run(from, () => this.#loader.fork(fork, origin));
    });
    // At once: whoever asks for the session from here on waits until the fork is complete or has failed.
    const entered = this.#inMemory.enter(
      to,
      forked.catch((error: unknown) => {
        // The next caller loads the session as the log has it. For the callers that wait now, nothing was recorded.
        if (mayBeStored(error)) throw new StorageAwayError(error.message, { cause: error });
        return before;
      }),
    );
    await entered.catch(() => undefined);
    const session = await forked;
    if (ephemeral) this.#ephemeral.deleteUnlessBegun(to, session.state.seq);
    return session;
  }

  /** Cancels what goes on in the session, then erases it. */
  async delete(sessionId: SessionId, origin: Origin): Promise<void> {
    const session = await this.session(sessionId);
    await session.markDeleted(origin);
    await this.#erase(session);
  }

  /** Deletes the session if its last event has this seq. @returns whether it did. */
  async deleteUnchanged(sessionId: SessionId, head: number, origin: Origin): Promise<boolean> {
    const session = await this.session(sessionId);
    if (!(await session.markDeleted(origin, head))) return false;
    await this.#erase(session);
    return true;
  }

  async #deleteIfThere(sessionId: SessionId, onlyAt: number | undefined): Promise<void> {
    const { head } = await this.position(sessionId);
    if (head === 0) return;
    if (onlyAt === undefined) await this.delete(sessionId, serviceOrigin());
    else await this.deleteUnchanged(sessionId, onlyAt, serviceOrigin());
  }

  /** Resolves when the session is not being erased. What begins later with its id is another session. */
  async #erasureOf(sessionId: SessionId): Promise<void> {
    for (const [session, erased] of this.#erasing)
      if (session.sessionId === sessionId) await Promise.allSettled([erased]);
  }

  #erase(session: SessionActor): Promise<void> {
    const erased = this.#eraseNow(session).finally(() => this.#erasing.delete(session));
    this.#erasing.set(session, erased);
    return erased;
  }

  async #eraseNow(session: SessionActor): Promise<void> {
    const { sessionId } = session;
    try {
      await this.#forks.over(sessionId);
      await this.#loader.erase(sessionId);
      this.#ephemeral.forget(sessionId);
    } catch (error) {
      // Loading the session finishes the deletion. Perhaps no client ever asks for the session again.
      this.#recovery.loadLater(sessionId, null);
      throw error;
    } finally {
      // The next caller gets a new session, or finishes a deletion that failed here.
      this.#inMemory.forget(session);
    }
  }

  /**
   * Resolves when the message is in the log. Rejects while the service is stopping, because nothing would run the turn before
   * the next start. A session that is being given up still takes the message, and another process goes on with both.
   * @param isNewSession whether the session certainly does not exist, in this process or in another one.
   */
  startTurn(
    sessionId: SessionId,
    message: Message,
    origin: Origin,
    isNewSession = false,
  ): Promise<AcceptedTurn> {
    const bytes = sentBytes(message);
    return this.#deps.workingMemory.taking(sessionId, bytes, () =>
      this.#admit(sessionId, { message, origin, bytes }, isNewSession),
    );
  }

  async #admit(sessionId: SessionId, incoming: IncomingTurn, isNewSession: boolean): Promise<AcceptedTurn> {
    this.#departing.requireTakesMessages(sessionId);
    const known = isNewSession ? 'absent' : this.#deps.journal.presence(sessionId);
    const presence = this.#inMemory.has(sessionId) ? 'likely' : known;
    // A message that follows a turn belongs to a session that exists. In a new one it would be refused.
    if (presence !== 'likely' && !incoming.message.follows)
      return this.#startPresumedNew(sessionId, incoming, presence);
    return this.#startLoaded(await this.session(sessionId), incoming);
  }

  /** Adds messages to a session whose turns are over. @returns the seq of the event. */
  extend(sessionId: SessionId, given: readonly GivenMessage[], origin: Origin): Promise<number> {
    const bytes = givenBytes(given);
    return this.#deps.workingMemory.taking(sessionId, bytes, async () => {
      const session = await this.session(sessionId);
      this.#deps.workingMemory.requireFor(session, bytes);
      return session.extend(given, origin);
    });
  }

  /** Takes no more messages and lets the open turns finish. A turn that is open after `timeoutMs` stays open in the log. */
  drain(timeoutMs: number): Promise<void> {
    return this.#departing.drain(timeoutMs);
  }

  /** Gives the sessions up, each between two steps of its turn or after `timeoutMs`, so that another process can go on with it. */
  handOver(timeoutMs: number, onLeft: OnLeft): Promise<void> {
    return this.#departing.handOver(timeoutMs, onLeft);
  }

  /** Another process owns the session. @returns whether it has left memory: a session in which something goes on stays. */
  discard(sessionId: SessionId): boolean {
    return this.#inMemory.discard(sessionId);
  }

  /** @returns whether the session was in memory, has no events, and has left memory. */
  discardEmpty(sessionId: SessionId): boolean {
    return this.#inMemory.at(sessionId)?.state.seq === 0 && this.#inMemory.discard(sessionId);
  }

  /** Resolves when a session that is being given up has left memory. */
  left(sessionId: SessionId): Promise<void> {
    return this.#departing.left(sessionId);
  }

  /** Whether the session is in memory or loading. */
  has(sessionId: SessionId): boolean {
    return this.#inMemory.has(sessionId);
  }

  /** Whether nobody else has to go on with the session: it is in memory or loading, is loaded later, or waits for somebody. */
  caresFor(sessionId: SessionId): boolean {
    return this.has(sessionId) || this.#recovery.has(sessionId);
  }

  /** Whether the session is in memory and has begun, so that this process certainly owns it. */
  hasBegun(sessionId: SessionId): boolean {
    return (this.#inMemory.at(sessionId)?.state.seq ?? 0) > 0;
  }

  /**
   * Appends the first message of a session without a look at the log: the session is new, certainly or probably. If the
   * append is refused, the session exists. It is then loaded, and the turn starts there. Callers that ask for the session
   * meanwhile wait.
   */
  async #startPresumedNew(
    sessionId: SessionId,
    incoming: IncomingTurn,
    presence: 'absent' | 'unknown',
  ): Promise<AcceptedTurn> {
    this.#deps.directory.presumeNew(sessionId);
    const presumed = this.#loader.presumeNew(sessionId, presence === 'absent');
    let accepted = presumed.startTurn(incoming.message, incoming.origin);
    const loadAfterAll = async (error: unknown): Promise<SessionActor> => {
      // Only this error says for certain that nothing was recorded: a message must not be recorded twice.
      if (!(error instanceof StaleVersionError)) throw error;
      this.#deps.directory.release(sessionId);
      const session = await this.#load(sessionId);
      accepted = this.#startLoaded(session, incoming);
      return session;
    };
    await this.#inMemory.enter(
      sessionId,
      accepted.then(() => presumed, loadAfterAll),
    );
    return accepted;
  }

  /** Rejects if the session may not take that much memory. */
  async #startLoaded(session: SessionActor, { message, origin, bytes }: IncomingTurn): Promise<AcceptedTurn> {
    this.#deps.workingMemory.requireFor(session, bytes);
    return session.startTurn(message, origin);
  }

  async #load(sessionId: SessionId): Promise<SessionActor> {
    await this.#deps.directory.claim(sessionId);
    const session = await this.#loader.load(sessionId);
    this.#recovery.noteLoaded(sessionId);
    // A service that is stopping does not resume the turn. The next start does.
    if (this.#departing.isDraining) session.stop();
    else if (session.state.open) await session.resume();
    return session;
  }

  /**
   * Unloads a session whose event could not be recorded, and schedules a retry of its open turn.
   * @returns false: it was tried too often.
   */
  #unloadFaulted(session: SessionActor, error: unknown): boolean {
    this.#inMemory.forget(session);
    const { open } = session.state;
    // Events that may be stored all the same may have begun a turn.
    return open || mayBeStored(error) ? this.#recovery.loadLater(session.sessionId, open) : true;
  }
}

function sessionExists(sessionId: SessionId): ServiceError {
  return new ServiceError('INVALID_REQUEST', `There is a session ${sessionId} already.`, {
    field: 'sessionId',
    issue: 'the session exists',
    suggestion: 'Choose another id, or leave it out.',
  });
}
