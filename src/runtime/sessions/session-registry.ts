import { ServiceError, serviceStopping } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import { StaleVersionError } from '../../ports/event-store.ts';
import type { ServiceRequests } from '../../ports/service-requests.ts';
import type { SessionDirectory } from '../../ports/session-directory.ts';
import type { Clock } from '../../timing/clock.ts';
import { within } from '../../timing/deadline.ts';
import { FaultRecovery } from './fault-recovery.ts';
import type { NewFork } from './journal.ts';
import { RecentIds } from './recent-ids.ts';
import type { AcceptedTurn, SessionActor } from './session-actor.ts';
import { type LoaderParts, SessionLoader } from './session-loader.ts';

export interface RegistryParts extends Omit<LoaderParts, 'onFault'> {
  /** A simulated one, in tests. */
  readonly clock?: Clock;
  readonly directory: SessionDirectory;
}

type Message = Parameters<SessionActor['startTurn']>[0];

/** A session in which nothing went on for so long leaves memory; the log has it. */
const IDLE_MS = 60_000;
/** A hundred bytes each. */
const KNOWN_IDS = 10_000;

interface Entry {
  readonly loading: Promise<SessionActor>;
  /** Once it is loaded. */
  session: SessionActor | null;
  lastUsed: number;
}

/** The sessions that are in memory: finds the actor of one, or has it loaded. At most one for each session. */
export class SessionRegistry {
  readonly #parts: RegistryParts;
  readonly #loader: SessionLoader;
  readonly #entries = new Map<SessionId, Entry>();
  /** Sessions that have left memory, as far as it is known: they are not new. */
  readonly #left = new RecentIds(KNOWN_IDS);
  readonly #recovery: FaultRecovery;
  readonly #sweeper: NodeJS.Timeout;
  #draining = false;

  constructor(parts: RegistryParts) {
    this.#parts = parts;
    this.#recovery = new FaultRecovery({ ...parts, load: (sessionId) => this.session(sessionId) });
    this.#loader = new SessionLoader({ ...parts, onFault: (session) => this.#lose(session) });
    this.#sweeper = setInterval(() => this.evictIdle(IDLE_MS), IDLE_MS / 2).unref();
  }

  /** Rejects when the log cannot be read; the next call tries again. */
  session(sessionId: SessionId): Promise<SessionActor> {
    const known = this.#entries.get(sessionId);
    if (known) {
      known.lastUsed = Date.now();
      return known.loading;
    }
    return this.#enter(sessionId, this.#load(sessionId));
  }

  /** Seq of the session's last event, and what its running step has streamed. One in which nothing is open is not loaded for it. */
  async position(sessionId: SessionId): Promise<ServiceRequests['session.position']['answer']> {
    if (!this.#entries.has(sessionId)) {
      const known = await this.#parts.journal.session(sessionId);
      // What is open goes on by being loaded: a turn, or a deletion.
      if (!known?.open) return { head: known?.head ?? 0, running: null, reasoning: null };
    }
    try {
      const { state, running, reasoning } = await this.session(sessionId);
      return { head: state.seq, running, reasoning };
    } catch {
      // It cannot go on now, which is told where it failed. What the log has of it can be read all the same.
      const known = await this.#parts.journal.session(sessionId);
      return { head: known?.head ?? 0, running: null, reasoning: null };
    }
  }

  /** How many sessions are in memory. */
  get size(): number {
    return this.#entries.size;
  }

  /** How much goes on in the sessions that are in memory: turns that are open, and messages that wait behind them. */
  get load(): { turns: number; waiting: number } {
    const load = { turns: 0, waiting: 0 };
    for (const { session } of this.#entries.values()) {
      if (session?.state.open) load.turns += 1;
      load.waiting += session?.state.waiting.length ?? 0;
    }
    return load;
  }

  /** Whether the service is stopping, and takes no more messages. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** Lets go of the sessions in which nothing has gone on for so long. */
  evictIdle(idleMs: number): void {
    const before = Date.now() - idleMs;
    for (const [sessionId, { session, lastUsed }] of this.#entries) {
      // One that is being erased goes when it is erased; until then nobody is to load it again.
      if (session?.isIdle && !session.state.deleted && lastUsed <= before) {
        this.#leave(sessionId);
      }
    }
  }

  /** Goes on with the turns that were open when the service stopped, and with deletions that were under way. */
  async recover(): Promise<void> {
    for (const { sessionId } of await this.#parts.journal.sessions({ open: true })) {
      try {
        await this.session(sessionId);
      } catch (error) {
        this.#parts.log.error({ sessionId, err: error }, 'a session with an open turn could not be loaded');
      }
    }
  }

  /** @returns the new session, which shares the past of another. Refuses when it exists already. */
  async fork(fork: NewFork, origin: Origin): Promise<SessionActor> {
    const { to } = fork;
    const before = this.#entries.get(to)?.loading ?? this.#load(to);
    const forked = before.then((exists) => {
      // A message to it may be on its way to the log.
      if (exists.state.seq > 0 || !exists.isIdle) throw sessionExists(to);
      return this.#loader.fork(fork, origin);
    });
    // At once: whoever asks for the session from here on waits until the fork is whole, and gets it, or what was there.
    await this.#enter(
      to,
      forked.catch(() => before),
    );
    return forked;
  }

  /** Cancels what goes on in the session, then erases it. */
  async delete(sessionId: SessionId, origin: Origin): Promise<void> {
    const session = await this.session(sessionId);
    await session.markDeleted(origin);
    try {
      await this.#loader.erase(sessionId);
    } finally {
      // Whoever asks for it next gets a new session, or finishes what failed here.
      this.#forget(session);
    }
  }

  /**
   * Resolves when the message is in the log. Refuses while the service is stopping: it must not be accepted and then
   * left lying.
   */
  async startTurn(sessionId: SessionId, message: Message, origin: Origin): Promise<AcceptedTurn> {
    if (this.#draining) throw serviceStopping();
    if (!this.#entries.has(sessionId) && !this.#left.has(sessionId))
      return this.#begin(sessionId, message, origin);
    const session = await this.session(sessionId);
    return session.startTurn(message, origin);
  }

  /** Takes no more messages and lets the open turns finish; what is open after `timeoutMs` stays open in the log. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true;
    clearInterval(this.#sweeper);
    this.#recovery.stop();
    const loaded = this.#loaded();
    const idle: Promise<unknown> = loaded.then((all) => Promise.all(all.map((session) => session.idle())));
    await within(timeoutMs, idle, undefined);
    for (const session of await loaded) session.stop();
  }

  /** All that are in memory, once those that load have been. */
  async #loaded(): Promise<SessionActor[]> {
    const all = await Promise.allSettled([...this.#entries.values()].map(({ loading }) => loading));
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  #enter(sessionId: SessionId, loading: Promise<SessionActor>): Promise<SessionActor> {
    const entry: Entry = { loading, session: null, lastUsed: Date.now() };
    this.#entries.set(sessionId, entry);
    loading.then(
      (session) => {
        entry.session = session;
      },
      () => {
        // A fault may have removed it already, and somebody may have asked again since.
        if (this.#entries.get(sessionId) !== entry) return;
        this.#entries.delete(sessionId);
        this.#parts.directory.release(sessionId);
      },
    );
    return loading;
  }

  /**
   * Most sessions that nobody knows are new, so this one is taken for new: its first message goes to the log at once, and
   * when the log refuses it, to the session as the log has it. Whoever asks for the session meanwhile waits.
   */
  async #begin(sessionId: SessionId, message: Message, origin: Origin): Promise<AcceptedTurn> {
    const presumed = this.#loader.presumeNew(sessionId);
    const claimed = this.#parts.directory.claim(sessionId);
    let accepted = claimed
      ? claimed.then(() => presumed.startTurn(message, origin))
      : presumed.startTurn(message, origin);
    const loadAfterAll = async (error: unknown): Promise<SessionActor> => {
      // Only what says for certain that nothing was recorded: it must not be recorded twice.
      if (!(error instanceof StaleVersionError)) throw error;
      const session = await this.#load(sessionId);
      accepted = session.startTurn(message, origin);
      return session;
    };
    await this.#enter(
      sessionId,
      accepted.then(() => presumed, loadAfterAll),
    );
    return accepted;
  }

  async #load(sessionId: SessionId): Promise<SessionActor> {
    const claimed = this.#parts.directory.claim(sessionId);
    if (claimed) await claimed;
    const session = await this.#loader.load(sessionId);
    // A service that is stopping begins nothing: the turn goes on at the next start.
    if (session.state.open && !this.#draining) await session.resume();
    return session;
  }

  /** Its turn goes on by itself, when it can be recorded again. */
  #lose(session: SessionActor): void {
    this.#forget(session);
    const { open } = session.state;
    if (open) this.#recovery.loadLater(session.sessionId, open.attempt);
  }

  #forget(session: SessionActor): void {
    const entry = this.#entries.get(session.sessionId);
    if (!entry || (entry.session !== session && entry.session !== null)) return;
    this.#leave(session.sessionId);
  }

  #leave(sessionId: SessionId): void {
    this.#entries.delete(sessionId);
    this.#left.add(sessionId);
    this.#parts.directory.release(sessionId);
  }
}

function sessionExists(sessionId: SessionId): ServiceError {
  return new ServiceError('INVALID_REQUEST', `There is a session ${sessionId} already.`, {
    field: 'sessionId',
    issue: 'the session exists',
    suggestion: 'Choose another id, or leave it out.',
  });
}
