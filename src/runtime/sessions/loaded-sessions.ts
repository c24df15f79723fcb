import { LRUCache } from 'lru-cache';
import type { SessionId, TurnId } from '../../core/ids.ts';
import type { WaitingApproval, WaitingInput } from '../../core/session/session-view.ts';
import { oldestFirst } from '../../core/session/view-session.ts';
import type { SessionDirectory } from '../../ports/session-directory.ts';
import type { SessionActor } from './session-actor.ts';

/** Idle sessions leave memory after this time, or earlier if they take too much of it. The log has them. */
const IDLE_MS = 60_000;
/** A caller that has just asked for a session is about to use it. */
const MIN_IDLE_MS = 1_000;

export interface LoadedSessionsDeps {
  readonly directory: SessionDirectory;
  /** Most memory that idle sessions take, in bytes. */
  readonly maxIdleBytes: number;
  /** Called once, when idle sessions take half of what they may. */
  readonly onFilling?: () => void;
  /** Milliseconds since some moment, by a clock that is never set back. */
  readonly elapsedMs?: () => number;
}

interface Entry {
  readonly loading: Promise<SessionActor>;
  /** Null until the session is loaded. */
  session: SessionActor | null;
  lastUsed: number;
}

/** What other parts see of the sessions in memory. */
export type SessionsInMemory = Pick<
  LoadedSessions,
  'size' | 'load' | 'openTurns' | 'waitingApprovals' | 'waitingInputs' | 'evictIdle'
>;

/** The sessions that are in memory, and those that load: at most one actor for each session. */
export class LoadedSessions {
  readonly #directory: SessionDirectory;
  readonly #elapsedMs: () => number;
  #onFilling: (() => void) | undefined;
  readonly #entries = new Map<SessionId, Entry>();
  /** The sessions at rest, the one that came to rest last at the end. */
  readonly #idle: LRUCache<SessionId, SessionActor>;
  readonly #sweeper: NodeJS.Timeout;
  /** Set while sessions are to leave memory that somebody has just asked for. */
  #soon: NodeJS.Timeout | null = null;
  readonly #leavingSoon = new Set<SessionActor>();

  constructor({
    directory,
    maxIdleBytes,
    onFilling,
    elapsedMs = () => performance.now(),
  }: LoadedSessionsDeps) {
    this.#directory = directory;
    this.#elapsedMs = elapsedMs;
    this.#onFilling = onFilling;
    this.#idle = new LRUCache<SessionId, SessionActor>({
      maxSize: maxIdleBytes,
      // The cache would not keep a larger session, and so never evict it.
      sizeCalculation: ({ bytes }) => Math.min(bytes, maxIdleBytes),
      disposeAfter: (session, _, reason) => {
        if (reason === 'evict') this.#leaveSoon(session);
      },
    });
    this.#sweeper = setInterval(() => this.evictIdle(IDLE_MS), IDLE_MS / 2).unref();
  }

  /** How many sessions are in memory or loading. */
  get size(): number {
    return this.#entries.size;
  }

  /** The loaded sessions, without those that are still loading. */
  get all(): SessionActor[] {
    return [...this.#entries.values()].flatMap(({ session }) => session ?? []);
  }

  /** The tool calls that wait for approval, oldest first. A session in which one waits does not leave memory. */
  get waitingApprovals(): WaitingApproval[] {
    return this.all
      .flatMap(({ sessionId, approvals }) => approvals.map((approval) => ({ sessionId, ...approval })))
      .toSorted(oldestFirst);
  }

  /** What tool servers ask, oldest first. */
  get waitingInputs(): WaitingInput[] {
    return this.all
      .flatMap(({ sessionId, inputs }) => inputs.map((input) => ({ sessionId, ...input })))
      .toSorted(oldestFirst);
  }

  get openTurns(): { sessionId: SessionId; turnId: TurnId }[] {
    return this.all.flatMap(({ sessionId, state: { open } }) =>
      open ? { sessionId, turnId: open.turnId } : [],
    );
  }

  /** How many turns are open, and how many messages wait behind them. */
  get load(): { turns: number; waiting: number } {
    const load = { turns: 0, waiting: 0 };
    for (const { state } of this.all) {
      if (state.open) load.turns += 1;
      load.waiting += state.waiting.length;
    }
    return load;
  }

  /** Whether the session is in memory or loading. */
  has(sessionId: SessionId): boolean {
    return this.#entries.has(sessionId);
  }

  /** The session if it is in memory, and not only loading. */
  at(sessionId: SessionId): SessionActor | null {
    return this.#entries.get(sessionId)?.session ?? null;
  }

  /** The session if it is in memory or loading. */
  find(sessionId: SessionId): Promise<SessionActor> | undefined {
    const entry = this.#entries.get(sessionId);
    if (entry) entry.lastUsed = this.#elapsedMs();
    return entry?.loading;
  }

  /** From now on `find` returns this promise. A session that cannot be loaded is forgotten. */
  enter(sessionId: SessionId, loading: Promise<SessionActor>): Promise<SessionActor> {
    const entry: Entry = { loading, session: null, lastUsed: this.#elapsedMs() };
    this.#entries.set(sessionId, entry);
    loading.then(
      (session) => {
        entry.session = session;
        if (session.isIdle) this.rested(session);
      },
      () => {
        // A fault may have removed the entry already, and a later caller may have entered the session again.
        if (this.#entries.get(sessionId) !== entry) return;
        this.#entries.delete(sessionId);
        this.#directory.release(sessionId);
      },
    );
    return loading;
  }

  /** Call it when nothing is open in the session any more. */
  rested(session: SessionActor): void {
    if (!this.#entries.has(session.sessionId)) return;
    // The cache would not measure a session again that it already has.
    this.#idle.delete(session.sessionId);
    this.#idle.set(session.sessionId, session);
    if (this.#idle.calculatedSize > this.#idle.maxSize / 2) this.#noteFilling();
  }

  /** The actor leaves memory, unless another one has taken its place. */
  forget(session: SessionActor): void {
    const entry = this.#entries.get(session.sessionId);
    if (entry && (entry.session === session || entry.session === null)) this.#leave(session.sessionId);
  }

  /** The session leaves memory at once, unless something goes on in it. @returns whether the session is out of memory. */
  discard(sessionId: SessionId): boolean {
    const entry = this.#entries.get(sessionId);
    if (entry && !(entry.session && hasNothingToDo(entry.session))) return false;
    this.#leave(sessionId);
    return true;
  }

  /** Unloads the sessions that have been idle for at least `idleMs`. */
  evictIdle(idleMs: number): void {
    for (const [sessionId, { session }] of this.#entries)
      if (session && this.#mayLeave(sessionId, session, idleMs)) this.#leave(sessionId);
  }

  /**
   * Ends the eviction. Resolves when the sessions that were loading are loaded: to all sessions, or to the results of `each`,
   * which is called with each session as soon as it is loaded.
   */
  async close(): Promise<SessionActor[]>;
  async close<T>(each: (session: SessionActor) => T): Promise<Awaited<T>[]>;
  async close<T>(each?: (session: SessionActor) => T): Promise<unknown[]> {
    clearInterval(this.#sweeper);
    clearTimeout(this.#soon ?? undefined);
    const loading = [...this.#entries.values()].map((entry) => entry.loading);
    const all = await Promise.allSettled(each ? loading.map((one) => one.then(each)) : loading);
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  #noteFilling(): void {
    this.#onFilling?.();
    this.#onFilling = undefined;
  }

  /** The session leaves memory as soon as nobody is about to use it, unless it is at work again by then. */
  #leaveSoon(session: SessionActor): void {
    const { sessionId } = session;
    if (this.#mayLeave(sessionId, session, MIN_IDLE_MS)) {
      this.#leave(sessionId);
      return;
    }
    this.#leavingSoon.add(session);
    this.#soon ??= setTimeout(() => {
      this.#soon = null;
      const waiting = [...this.#leavingSoon];
      this.#leavingSoon.clear();
      for (const one of waiting) {
        // A session that worked meanwhile is back in the LRU list.
        if (this.at(one.sessionId) === one && one.isIdle && !this.#idle.has(one.sessionId))
          this.#leaveSoon(one);
      }
    }, MIN_IDLE_MS).unref();
  }

  #mayLeave(sessionId: SessionId, session: SessionActor, idleMs: number): boolean {
    const entry = this.#entries.get(sessionId);
    if (entry?.session !== session || entry.lastUsed > this.#elapsedMs() - idleMs) return false;
    return hasNothingToDo(session);
  }

  #leave(sessionId: SessionId): void {
    this.#entries.delete(sessionId);
    this.#idle.delete(sessionId);
    this.#directory.release(sessionId);
  }
}

/** A session that is being erased leaves memory when the erasure has ended. Until then nobody may load it again. */
function hasNothingToDo({ isIdle, state }: SessionActor): boolean {
  return isIdle && !state.deleted;
}
