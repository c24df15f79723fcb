import type { AuditEntry, AuditRecorded } from '../../core/access/audit-entry.ts';
import { StorageAwayError } from '../../core/log/storage-away.ts';
import { StorageFullError } from '../../core/log/storage-full.ts';
import { AUDIT_STREAMS, auditStream } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import { DAY_MS } from '../../core/timeout-ms.ts';
import type { Audit, AuditFilter, AuditRecord } from '../../ports/audit.ts';
import { type EventStore, StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';
import { againWhenStale } from '../streams/again-when-stale.ts';
import { readAudit } from './audit-reading.ts';
import { GatheredEntries } from './gathered-entries.ts';

/** How long entries are gathered before they are written together. */
const GATHER_MS = 1_000;
/** More days than anybody keeps. */
const MAX_DAYS = 10_000;

export interface AuditTrailDeps {
  readonly store: EventStore;
  readonly log: Logger;
  /** How many days are kept. */
  readonly days: number;
  /** Simulated ones, in tests. */
  readonly clock?: Clock | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * Records who did what, and what was refused. Nobody waits for it: entries are gathered for a second, equal ones become
 * one with a count, and one event holds them all. So a crash loses the entries of the last second at most. (What changed
 * anything is an event of its own, which says who did it.) Each day is a stream, which all nodes write, and which is
 * erased when it is too old.
 */
export class AuditTrail implements Audit, AsyncDisposable {
  readonly #deps: AuditTrailDeps;
  readonly #clock: Clock;
  readonly #now: () => number;
  #gathered = new GatheredEntries();
  /** What the log did not take. It is written before anything else. Meanwhile, `#gathered` has its bounds. */
  #refused: AuditRecorded | null = null;
  /** How often in a row it did not. */
  #refusals = 0;
  #timer: unknown = null;
  #day: { readonly stream: string; readonly seq: number } | null = null;
  /** Since when days that are too old are gone. */
  #cleared: string | null = null;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: AuditTrailDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#now = deps.now ?? Date.now;
  }

  /** Does nothing once the trail is closed: its log may be closed, too. */
  record(entry: AuditRecord): void {
    if (this.#isClosed) return;
    this.#gathered.add(entry, this.#now());
    this.#flushLater();
  }

  async read(filter: AuditFilter): Promise<AsyncIterable<AuditEntry>> {
    await this.flush();
    return readAudit(this.#deps.store, filter);
  }

  /** Resolves when all that was recorded before is in the log, or could not be written. */
  flush(): Promise<void> {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  #flushLater(): void {
    // A log that takes nothing is not asked each second.
    const ms = this.#refused ? retryDelayMs(this.#refusals) : GATHER_MS;
    this.#timer ??= this.#clock.setTimeout(() => void this.flush(), ms);
  }

  async #write(): Promise<void> {
    if (this.#refused && !(await this.#store(this.#refused))) {
      // The refused entries may be stored all the same, so they are not tried again. What came meanwhile is.
      if (this.#gathered.size > 0 && !this.#isClosed) this.#flushLater();
      return;
    }
    const gathered = this.#gathered;
    if (gathered.size === 0) return;
    this.#gathered = new GatheredEntries();
    const { dropped } = gathered;
    await this.#store({
      type: 'audit.recorded',
      entries: gathered.list(),
      ...(dropped > 0 && { dropped }),
    });
  }

  /** @returns whether the event was stored. Otherwise it is tried again later if it is certain that it was not. */
  async #store(event: AuditRecorded): Promise<boolean> {
    this.#refused = null;
    try {
      await againWhenStale(() => this.#append(event));
      this.#refusals = 0;
      return true;
    } catch (err) {
      this.#refusals += 1;
      const isRefused = isCertainlyNotStored(err);
      if (isRefused) this.#refused = event;
      if (isRefused && !this.#isClosed) this.#flushLater();
      this.#deps.log.error(
        { err, entries: event.entries.length },
        'entries of the audit trail could not be written',
      );
      return false;
    }
  }

  async #append(event: AuditRecorded): Promise<void> {
    const { store } = this.#deps;
    const stream = auditStream(this.#now());
    const day = this.#day?.stream === stream ? this.#day : await this.#open(stream);
    // After a failure, the head is read again: another node has written, or nobody knows what was stored.
    this.#day = null;
    await store.append(stream, day.seq, [event], { origin: serviceOrigin() });
    this.#day = { stream, seq: day.seq + 1 };
  }

  async #open(stream: string): Promise<{ readonly seq: number }> {
    const [known] = await this.#deps.store.sessions({ sessionId: stream });
    if (this.#cleared !== stream) await this.#eraseOld();
    this.#cleared = stream;
    return { seq: known?.head ?? 0 };
  }

  async #eraseOld(): Promise<void> {
    const { store, days } = this.#deps;
    const oldest = auditStream(this.#now() - days * DAY_MS);
    const streams = await store.streamIds(AUDIT_STREAMS, MAX_DAYS);
    const old = streams.filter((id) => id.startsWith(AUDIT_STREAMS) && id < oldest);
    if (old.length > 0) await store.erase(...old);
  }
}

/** Otherwise a second append could make two entries of one. */
function isCertainlyNotStored(error: unknown): boolean {
  if (error instanceof StorageAwayError) return !error.mayBeStored;
  return error instanceof StaleVersionError || error instanceof StorageFullError;
}
