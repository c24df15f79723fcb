import { type AuditEntry, isRefusal } from '../../core/access/audit-entry.ts';
import type { AuditRecord } from '../../ports/audit.ts';

/** Most different entries for what was done, also if it failed. */
const MOST_DEEDS = 5_000;
/** Most different refusals. Who is refused must displace nothing that was done. */
const MOST_REFUSALS = 500;
/** Most different refusals of one credential, or of one address without a credential. */
const MOST_OF_SOURCE = 20;

/**
 * The entries of about one second. Equal ones are one with a count. A source of many different refusals, such as guessed
 * names, loses what they were about, so that they become equal.
 */
export class GatheredEntries {
  /** By what makes entries equal, in the order of their first time. */
  readonly #entries = new Map<string, { readonly entry: AuditEntry; count: number }>();
  readonly #refusalsOf = new Map<string, number>();
  #refusals = 0;
  #dropped = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** How many entries there was no room for. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param time milliseconds since the epoch. */
  add(record: AuditRecord, time: number): void {
    const key = JSON.stringify(record);
    const known = this.#entries.get(key);
    if (known) known.count += 1;
    else if (isRefusal(record.outcome)) this.#addRefusal(key, record, time);
    else if (this.#entries.size - this.#refusals < MOST_DEEDS) this.#keep(key, record, time);
    else this.#dropped += 1;
  }

  list(): AuditEntry[] {
    return [...this.#entries.values()].map(({ entry, count }) => (count === 1 ? entry : { ...entry, count }));
  }

  #addRefusal(key: string, record: AuditRecord, time: number): void {
    const source = record.credential ?? record.address ?? '';
    const ofSource = this.#refusalsOf.get(source) ?? 0;
    const { subject, sessionId, ...bare } = record;
    const isBare = subject === undefined && sessionId === undefined;
    if (ofSource >= MOST_OF_SOURCE && !isBare) this.add(bare, time);
    else if (this.#refusals >= MOST_REFUSALS) this.#dropped += 1;
    else {
      this.#refusals += 1;
      this.#refusalsOf.set(source, ofSource + 1);
      this.#keep(key, record, time);
    }
  }

  #keep(key: string, record: AuditRecord, time: number): void {
    this.#entries.set(key, { entry: { time: new Date(time).toISOString(), ...record }, count: 1 });
  }
}
