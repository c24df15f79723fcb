import type { SessionId } from '../../core/ids.ts';
import { isSession } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { DAY_MS } from '../../core/timeout-ms.ts';
import type { SessionSummary } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import type { Journal } from './journal.ts';
import type { SessionRegistry } from './session-registry.ts';

export interface RetentionDeps {
  readonly journal: Pick<Journal, 'sessions'>;
  readonly sessions: Pick<SessionRegistry, 'deleteUnchanged'>;
  readonly log: Logger;
  /** A simulated one, in tests. */
  readonly clock?: Clock | undefined;
  /** The time in milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A start has more urgent work. */
const FIRST_SWEEP_MS = 60_000;
const SWEEP_MS = 60 * 60_000;
/** Sessions of the index that are looked at without a pause. */
const PORTION = 100;
const PAUSE_MS = 1_000;

/** Most old sessions that are remembered from one sweep to the next, about 100 bytes each. The others wait for a later sweep. */
const MAX_FOUND = 100_000;

/**
 * Deletes sessions that nobody has used for a long time, in the background and in small portions. Each is deleted as a
 * client would delete it, and only if it has had no event since the index was read. So it has no open turn either.
 *
 * The clock of a machine may be wrong when an event is appended, and be set later: then a session looks old that was used a
 * minute ago. So a session is deleted only if the sweep before found it old, too, and it has had no event since then.
 */
export class SessionRetention implements AsyncDisposable {
  readonly #days: number;
  readonly #deps: RetentionDeps;
  readonly #clock: Clock;
  readonly #now: () => number;
  #deleted = 0;
  /** The heads of the old sessions that the last complete sweep found. */
  #foundBefore: ReadonlyMap<SessionId, number> = new Map();
  /** The heads of the old sessions that the present sweep has found so far. */
  #found = new Map<SessionId, number>();
  #wait: unknown;
  #portion: Promise<void> = Promise.resolve();
  #stopped = false;

  /** Null if sessions are kept for ever. @param days sessions whose last event is older are deleted. */
  static of(days: number | undefined, deps: RetentionDeps): SessionRetention | null {
    return days === undefined ? null : new SessionRetention(days, deps);
  }

  constructor(days: number, deps: RetentionDeps) {
    this.#days = days;
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#now = deps.now ?? Date.now;
    this.#continueIn(FIRST_SWEEP_MS, undefined);
  }

  /** How many sessions were deleted since the start. */
  get deleted(): number {
    return this.#deleted;
  }

  /** Ends the sweep. The deletion that is under way still ends. */
  stop(): void {
    this.#stopped = true;
    this.#clock.clearTimeout(this.#wait);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#portion;
  }

  /** @param after the last session of the portion before; undefined to begin again. */
  #continueIn(ms: number, after: SessionId | undefined): void {
    if (this.#stopped) return;
    this.#wait = this.#clock.setTimeout(() => {
      this.#portion = this.#sweepPortion(after);
    }, ms);
  }

  /** Never rejects. */
  async #sweepPortion(after: SessionId | undefined): Promise<void> {
    try {
      const filter = { open: false, limit: PORTION, ...(after !== undefined && { after }) };
      const streams = await this.#deps.journal.sessions(filter);
      await this.#deleteOld(streams);
      const last = streams.at(-1)?.sessionId;
      // The streams of the service come after the sessions.
      const isEnd = last === undefined || streams.length < PORTION || !isSession(last);
      if (isEnd) this.#endSweep();
      this.#continueIn(isEnd ? SWEEP_MS : PAUSE_MS, isEnd ? undefined : last);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'could not look for sessions that are older than retentionDays');
      this.#found.clear();
      this.#continueIn(SWEEP_MS, undefined);
    }
  }

  #endSweep(): void {
    this.#foundBefore = this.#found;
    this.#found = new Map();
  }

  async #deleteOld(streams: readonly SessionSummary[]): Promise<void> {
    const before = this.#now() - this.#days * DAY_MS;
    const deleted: SessionId[] = [];
    for (const { sessionId, updatedAt, head } of streams) {
      if (this.#stopped) break;
      if (updatedAt >= before || !isSession(sessionId)) continue;
      if (this.#foundBefore.get(sessionId) === head && (await this.#delete(sessionId, head)))
        deleted.push(sessionId);
      else if (this.#found.size < MAX_FOUND) this.#found.set(sessionId, head);
    }
    if (deleted.length === 0) return;
    this.#deleted += deleted.length;
    this.#deps.log.info(
      { sessions: deleted, retentionDays: this.#days },
      'deleted sessions that are older than retentionDays',
    );
  }

  async #delete(sessionId: SessionId, head: number): Promise<boolean> {
    try {
      return await this.#deps.sessions.deleteUnchanged(sessionId, head, serviceOrigin());
    } catch (error) {
      // The session's owner deletes it.
      if (error instanceof SessionElsewhereError) return false;
      this.#deps.log.warn({ sessionId, err: error }, 'an old session could not be deleted');
      return false;
    }
  }
}
