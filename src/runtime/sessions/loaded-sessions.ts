import { LRUCache } from 'lru-cache';
import type { SessionId } from '../../core/ids.ts';
import type { SessionDirectory } from '../../ports/session-directory.ts';
import type { SessionActor } from './session-actor.ts';

/** Idle sessions leave memory after this time. The log has them. */
const IDLE_MS = 60_000;
/** About a hundred bytes each. */
const KNOWN_IDS = 10_000;

interface Entry {
  readonly loading: Promise<SessionActor>;
  /** Once it is loaded. */
  session: SessionActor | null;
  lastUsed: number;
}

/** The sessions that are in memory, and those that load: at most one actor for each session. */
export class LoadedSessions {
  readonly #directory: SessionDirectory;
  readonly #entries = new Map<SessionId, Entry>();
  /** Sessions that have left memory lately: the log knows them. */
  readonly #left = new LRUCache<SessionId, true>({ max: KNOWN_IDS });
  readonly #sweeper: NodeJS.Timeout;

  constructor(directory: SessionDirectory) {
    this.#directory = directory;
    this.#sweeper = setInterval(() => this.evictIdle(IDLE_MS), IDLE_MS / 2).unref();
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The loaded sessions, without those that are still loading. */
  get loaded(): SessionActor[] {
    return [...this.#entries.values()].flatMap(({ session }) => session ?? []);
  }

  has(sessionId: SessionId): boolean {
    return this.#entries.has(sessionId);
  }

  /** Whether the log is known to have the session. */
  wasHere(sessionId: SessionId): boolean {
    return this.#entries.has(sessionId) || this.#left.has(sessionId);
  }

  /** The session if it is in memory or loading. */
  find(sessionId: SessionId): Promise<SessionActor> | undefined {
    const entry = this.#entries.get(sessionId);
    if (entry) entry.lastUsed = Date.now();
    return entry?.loading;
  }

  /** From now on whoever asks for the session waits for this. A session that cannot be loaded is forgotten. */
  enter(sessionId: SessionId, loading: Promise<SessionActor>): Promise<SessionActor> {
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
        this.#directory.release(sessionId);
      },
    );
    return loading;
  }

  /** The actor leaves memory, unless another one has taken its place. */
  forget(session: SessionActor): void {
    const entry = this.#entries.get(session.sessionId);
    if (entry && (entry.session === session || entry.session === null)) this.#leave(session.sessionId);
  }

  /** Unloads the sessions that have been idle for at least `idleMs`. */
  evictIdle(idleMs: number): void {
    const before = Date.now() - idleMs;
    for (const [sessionId, { session, lastUsed }] of this.#entries) {
      // A session that is being erased goes when that is done. Until then nobody may load it again.
      if (session?.isIdle && !session.state.deleted && lastUsed <= before) this.#leave(sessionId);
    }
  }

  /** Resolves to all sessions in memory when those that load have been loaded. Ends the eviction. */
  async close(): Promise<SessionActor[]> {
    clearInterval(this.#sweeper);
    const all = await Promise.allSettled([...this.#entries.values()].map(({ loading }) => loading));
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  #leave(sessionId: SessionId): void {
    this.#entries.delete(sessionId);
    this.#left.set(sessionId, true);
    this.#directory.release(sessionId);
  }
}
