import type { SessionId } from '../../core/ids.ts';
import { fullShare, HOLDERS, type LimitHolder, type PerHolder } from '../../core/limit-errors.ts';
import { ANYONE } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Bus } from '../../ports/bus.ts';
import { ownerPrefixes } from './owner-prefixes.ts';

/** Beyond it, the counts that were made first are forgotten. They are made again when they are needed. */
const MAX_COUNTS = 10_000;
/** A count is made anew when sessions begin or end meanwhile, this often at most. */
const MAX_READINGS = 3;
/** At the limit, a count that is older is made again: sessions may have ended that nobody here has heard of. */
const FRESH_MS = 5_000;
/** When a client that has too many sessions may try again. A guess: the limit frees only when sessions are deleted. */
const RETRY_SECONDS = 60;

/** The sessions of one principal or one tenant. */
interface Count {
  sessions: number;
  /** Requests under way, each of which may begin a session. */
  pending: number;
  /** How many sessions have begun or ended since the count was asked for. */
  changes: number;
  /** When the log was read last. */
  countedAt: number;
  /** Null when the sessions are counted. */
  counting: Promise<void> | null;
}

/** A limit that a session counts against, and what the ids of its sessions begin with. */
interface Limited {
  readonly of: LimitHolder;
  readonly limit: number;
  readonly prefix: string;
}

/** An agent, as far as its sessions are counted. */
type Agent = Pick<Bus, 'send'>;

/**
 * How many sessions each principal, and each tenant, has, of all agents. They are counted in the log when the first is
 * wanted, and from then on as they begin and end. A session belongs to the owner that its id names, whoever begins it.
 */
export class SessionQuota {
  /** The limits that are not off. */
  readonly #limits: readonly Pick<Limited, 'of' | 'limit'>[];
  readonly #now: () => number;
  readonly #agents: Agent[] = [];
  /** By what the ids of the sessions begin with. */
  readonly #counts = new Map<string, Count>();
  #refusals = 0;

  /** @param now a simulated one, in tests. */
  constructor(limits: PerHolder, now: () => number = () => performance.now()) {
    this.#limits = HOLDERS.flatMap((of) => {
      const limit = limits[of];
      return limit === false ? [] : { of, limit };
    });
    this.#now = now;
  }

  /** How often there were too many. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Call before anything else. */
  watch(agent: Agent): void {
    this.#agents.push(agent);
  }

  /**
   * Call before a request that begins the session if there is none. Rejects with `RATE_LIMIT_EXCEEDED` if it would, and
   * there is no room. @returns what to call once when the request is over. A promise of it only if the sessions must be
   * counted first.
   */
  admit(sessionId: SessionId, agent: Agent): (() => void) | Promise<() => void> {
    const limited = this.#limitsOf(sessionId);
    const counts: Count[] = [];
    for (const { limit, prefix } of limited) {
      const count = this.#counts.get(prefix);
      if (!count || count.counting || count.sessions + count.pending >= limit)
        return this.#admitCounted(limited, sessionId, agent);
      counts.push(count);
    }
    return reserve(counts);
  }

  #limitsOf(sessionId: SessionId): Limited[] {
    const prefixes = this.#limits.length > 0 ? ownerPrefixes(sessionId) : undefined;
    return prefixes ? this.#limits.map(({ of, limit }) => ({ of, limit, prefix: prefixes[of] })) : [];
  }

  async #admitCounted(limited: readonly Limited[], sessionId: SessionId, agent: Agent): Promise<() => void> {
    const wanted: (Limited & { readonly count: Count })[] = [];
    for (const one of limited) wanted.push({ ...one, count: await this.#counted(one.prefix) });
    const findFull = () => wanted.find(({ limit, count }) => count.sessions + count.pending >= limit);
    let full = findFull();
    if (full) {
      // At the limit, and only there, it matters whether there is the session already.
      const { head } = await agent.send('session.position', { sessionId }, ANYONE);
      if (head > 0) return () => undefined;
    }
    for (; full; full = findFull()) {
      if (this.#now() - full.count.countedAt < FRESH_MS) {
        this.#refusals += 1;
        throw tooMany(full);
      }
      full.count.counting ??= this.#read(full.prefix, full.count);
      await full.count.counting;
    }
    return reserve(wanted.map(({ count }) => count));
  }

  /** Call with each signal of each session. */
  hear(signal: SessionSignal): void {
    if (!('event' in signal)) return;
    if (signal.event.type === 'session.deleted') this.#change(signal.sessionId, -1);
    else if (signal.seq === 1) this.begun(signal.sessionId);
  }

  /** Call for a session whose first event nobody hears. */
  begun(sessionId: SessionId): void {
    this.#change(sessionId, 1);
  }

  /** Call when it is not known whether the session has begun: its owner's sessions are counted anew. */
  forget(sessionId: SessionId): void {
    const prefixes = ownerPrefixes(sessionId);
    if (!prefixes) return;
    for (const prefix of Object.values(prefixes)) {
      const count = this.#counts.get(prefix);
      if (!count) continue;
      // A reading under way may be too early.
      count.changes += 1;
      count.counting ??= this.#read(prefix, count);
      // Whoever waits for the count hears that it failed.
      count.counting.catch(() => undefined);
    }
  }

  #change(sessionId: SessionId, by: 1 | -1): void {
    const prefixes = ownerPrefixes(sessionId);
    if (!prefixes) return;
    for (const prefix of Object.values(prefixes)) {
      const count = this.#counts.get(prefix);
      if (!count) continue;
      count.sessions += by;
      count.changes += 1;
    }
  }

  async #counted(prefix: string): Promise<Count> {
    const known = this.#counts.get(prefix);
    const count = known ?? { sessions: 0, pending: 0, changes: 0, countedAt: 0, counting: null };
    if (!known) {
      this.#makeRoom();
      this.#counts.set(prefix, count);
      count.counting = this.#read(prefix, count);
    }
    await count.counting;
    return count;
  }

  async #read(prefix: string, count: Count): Promise<void> {
    try {
      for (let reading = 1; ; reading += 1) {
        const { changes } = count;
        let sessions = 0;
        for (const agent of this.#agents) sessions += await agent.send('session.count', { prefix }, ANYONE);
        if (count.changes !== changes && reading < MAX_READINGS) continue;
        count.sessions = sessions;
        count.countedAt = this.#now();
        count.counting = null;
        return;
      }
    } catch (error) {
      this.#counts.delete(prefix);
      throw error;
    }
  }

  #makeRoom(): void {
    if (this.#counts.size < MAX_COUNTS) return;
    for (const [prefix, { pending, counting }] of this.#counts) {
      if (pending > 0 || counting) continue;
      this.#counts.delete(prefix);
      return;
    }
  }
}

/** @returns what gives the room back. */
function reserve(counts: readonly Count[]): () => void {
  for (const count of counts) count.pending += 1;
  return () => {
    for (const count of counts) count.pending -= 1;
  };
}

function tooMany({ of, limit }: { readonly of: LimitHolder; readonly limit: number }) {
  return fullShare(
    { name: 'sessions', of, what: 'sessions', suggestion: 'Delete sessions that are not needed any more.' },
    limit,
    RETRY_SECONDS,
  );
}
