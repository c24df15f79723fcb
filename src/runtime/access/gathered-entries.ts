import {
  type InOtherSession,
  isAccessRefusal,
  type StoredAuditEntry,
} from '../../core/access/audit-entry.ts';
import type { SessionId } from '../../core/ids.ts';
import type { AuditRecord } from '../../ports/audit.ts';

/** Most different entries for what was done, also if it failed. */
const MAX_DEEDS = 5_000;
/** Most different refusals. Who is refused must displace nothing that was done. */
const MAX_REFUSALS = 500;
/** Most different refusals of one credential, or of one address without a credential. */
const MAX_OF_SOURCE = 20;

/** What a client did in one session, or without any. */
interface Occurrence {
  /** The first time, in milliseconds since the epoch. */
  readonly time: number;
  count: number;
}

/** Records that differ in their session only. */
interface Group {
  readonly first: AuditRecord;
  readonly firstTime: Occurrence;
  /** In the order of their first time. */
  readonly sessions: Map<SessionId | undefined, Occurrence>;
}

/**
 * The entries of about one second. Equal ones are one with a count. A source of many different refusals, such as guessed
 * names, loses what they were about, so that they become equal.
 */
export class GatheredEntries {
  readonly #groups = new Map<string, Group>();
  /** The last one of each credential. A client that sends message after message needs no key made for each. */
  readonly #latest = new Map<string, Group>();
  readonly #refusalsOf = new Map<string, number>();
  #deeds = 0;
  #refusals = 0;
  #dropped = 0;

  get size(): number {
    return this.#deeds + this.#refusals;
  }

  /** How many entries there was no room for. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param time milliseconds since the epoch. */
  add(record: AuditRecord, time: number): void {
    const group = this.#groupOf(record);
    const known = group?.sessions.get(record.sessionId);
    if (known) known.count += 1;
    else if (isAccessRefusal(record.outcome)) this.#addRefusal(record, time, group);
    else if (this.#deeds < MAX_DEEDS) {
      this.#deeds += 1;
      this.#keep(record, time, group);
    } else this.#dropped += 1;
  }

  list(): StoredAuditEntry[] {
    return [...this.#groups.values()].map(storedEntry);
  }

  /** @param group that the record belongs to, if there is one. */
  #addRefusal(record: AuditRecord, time: number, group: Group | undefined): void {
    const source = record.credential ?? record.address ?? '';
    const ofSource = this.#refusalsOf.get(source) ?? 0;
    const { subject, sessionId, ...bare } = record;
    const isBare = subject === undefined && sessionId === undefined;
    if (ofSource >= MAX_OF_SOURCE && !isBare) this.add(bare, time);
    else if (this.#refusals >= MAX_REFUSALS) this.#dropped += 1;
    else {
      this.#refusals += 1;
      this.#refusalsOf.set(source, ofSource + 1);
      this.#keep(record, time, group);
    }
  }

  #keep(record: AuditRecord, time: number, group: Group | undefined): void {
    const occurrence = { time, count: 1 };
    if (group) group.sessions.set(record.sessionId, occurrence);
    else {
      const sessions = new Map([[record.sessionId, occurrence]]);
      this.#groups.set(groupKey(record), { first: record, firstTime: occurrence, sessions });
    }
  }

  #groupOf(record: AuditRecord): Group | undefined {
    const { credential = '' } = record;
    const latest = this.#latest.get(credential);
    if (latest && isAlike(latest.first, record)) return latest;
    const group = this.#groups.get(groupKey(record));
    if (group) this.#latest.set(credential, group);
    return group;
  }
}

/** What records of one group have in common, besides whether they name a session. */
const SHARED = [
  ...(['principal', 'tenant', 'credential', 'address', 'agentId'] as const),
  ...(['what', 'outcome', 'reason', 'approved', 'subject'] as const),
];

function isAlike(one: AuditRecord, other: AuditRecord): boolean {
  if ((one.sessionId === undefined) !== (other.sessionId === undefined)) return false;
  return SHARED.every((field) => one[field] === other[field]);
}

/** Equal for records that are alike. */
function groupKey(record: AuditRecord): string {
  return JSON.stringify([record.sessionId !== undefined, ...SHARED.map((field) => record[field])]);
}

function storedEntry({ first, firstTime: { time, count }, sessions }: Group): StoredAuditEntry {
  const others: InOtherSession[] = [];
  for (const [sessionId, at] of sessions)
    if (sessionId !== undefined && sessionId !== first.sessionId)
      others.push([Math.max(0, at.time - time), sessionId, at.count]);
  return {
    time: new Date(time).toISOString(),
    ...first,
    ...(count > 1 && { count }),
    ...(others.length > 0 && { others }),
  };
}
