import type { AuditEntry } from '../../core/access/audit-entry.ts';
import type { ServiceEvent } from '../../core/log/events.ts';
import { AUDIT_STREAMS, auditStream } from '../../core/log/streams.ts';
import { serviceOrigin } from '../../core/request/request-origin.ts';
import type { Audit, AuditFilter } from '../../ports/audit.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { readAudit } from './audit-reading.ts';

/** How long entries are gathered before they are written together. */
const GATHER_MS = 1_000;
/** Most different entries of one second. A flood of refusals must not fill memory and disk. */
const MOST_ENTRIES = 5_000;
const DAY_MS = 24 * 60 * 60_000;
/** More days than anybody keeps. */
const MOST_DAYS = 10_000;

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
 * anything is an event of its own, which says who did it.) Each day is a stream, which is erased when it is too old.
 */
export class AuditTrail implements Audit, AsyncDisposable {
  readonly #deps: AuditTrailDeps;
  readonly #clock: Clock;
  readonly #now: () => number;
  /** By what makes entries equal. */
  #gathered = new Map<string, AuditEntry>();
  #dropped = 0;
  #timer: unknown = null;
  #day: { readonly stream: string; seq: number } | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: AuditTrailDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#now = deps.now ?? Date.now;
  }

  record(entry: Omit<AuditEntry, 'time' | 'count'>): void {
    const key = JSON.stringify(entry);
    const known = this.#gathered.get(key);
    if (known) this.#gathered.set(key, { ...known, count: (known.count ?? 1) + 1 });
    else if (this.#gathered.size < MOST_ENTRIES)
      this.#gathered.set(key, { time: new Date(this.#now()).toISOString(), ...entry });
    else this.#dropped += 1;
    this.#timer ??= this.#clock.setTimeout(() => void this.flush(), GATHER_MS);
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
    await this.flush();
  }

  async #write(): Promise<void> {
    if (this.#gathered.size === 0) return;
    const entries = [...this.#gathered.values()];
    const dropped = this.#dropped;
    this.#gathered = new Map();
    this.#dropped = 0;
    const event: ServiceEvent = { type: 'audit.recorded', entries, ...(dropped > 0 && { dropped }) };
    try {
      await this.#append(event);
    } catch (err) {
      this.#day = null;
      this.#deps.log.error(
        { err, entries: entries.length },
        'entries of the audit trail could not be written',
      );
    }
  }

  async #append(event: ServiceEvent): Promise<void> {
    const { store } = this.#deps;
    const stream = auditStream(this.#now());
    if (this.#day?.stream !== stream) {
      const [known] = await store.sessions({ sessionId: stream });
      this.#day = { stream, seq: known?.head ?? 0 };
      await this.#eraseOld();
    }
    await store.append(stream, this.#day.seq, [event], { origin: serviceOrigin() });
    this.#day.seq += 1;
  }

  async #eraseOld(): Promise<void> {
    const { store, days } = this.#deps;
    const oldest = auditStream(this.#now() - days * DAY_MS);
    const streams = await store.streamIds(AUDIT_STREAMS, MOST_DAYS);
    const old = streams.filter((id) => id.startsWith(AUDIT_STREAMS) && id < oldest);
    if (old.length > 0) await store.erase(...old);
  }
}
