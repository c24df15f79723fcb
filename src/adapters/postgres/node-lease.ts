import { z } from 'zod';
import { FencedError } from '../../core/log/fenced.ts';
import { StorageAwayError } from '../../core/log/storage-away.ts';
import type { Logger } from '../../ports/logger.ts';
import { pause } from '../../timing/pause.ts';
import type { Database } from './database.ts';
import { LogInUseError } from './log-in-use.ts';
import { isAway } from './postgres-errors.ts';
import type { Session } from './sql-session.ts';
import { Bigint } from './stream-index.ts';

/** Who asks for the lease. For people. */
export interface NodeIdentity {
  /** Host and process. */
  readonly name: string;
  /** The version of agent-service. */
  readonly version: string;
}

export interface LeaseTimes {
  /** How long a service that has died keeps the log from the next one. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /**
   * For how long a service of a cluster lets the others renew their leases after it could not reach the database itself.
   * `leaseMs` if it is left out.
   */
  readonly graceMs?: number;
}

interface TakeOptions {
  readonly log: Logger;
  /** Whether other services that share the log may write it, too. */
  readonly shares?: boolean | undefined;
  /** Waits as long as another service renews its lease. */
  readonly standsBy?: boolean | undefined;
  readonly times?: LeaseTimes | undefined;
}

const LEASE_TIMES: LeaseTimes = { leaseMs: 2_000, renewMs: 500 };

/** How soon a renewal that has failed is repeated, once: the connection may have been the only thing that was wrong. */
const AGAIN_MS = 20;

const HolderRow = z.object({ name: z.string(), shares: z.boolean(), left_ms: z.number() });
const NodeRow = z.object({ node: Bigint });

/** What a renewal has brought. */
interface Renewed {
  /** Whether there was a lease. */
  readonly isHeld: boolean;
  /** After how many milliseconds to renew it at the latest. */
  readonly nextMs?: number;
  /** Call it when the lease is known to be held. */
  readonly onHeld?: () => void;
}
type Renewal = () => Promise<Renewed>;

/**
 * The right to write the log, which one service has at a time, or several that share it. It is renewed while the service
 * lives, by the clock of the database. When it has ended, another service may take over: it removes the row of the one
 * before, and every append asks for the row of its service. So a service that was paused beyond its lease stores nothing
 * when it wakes up.
 */
export class NodeLease implements AsyncDisposable {
  /** The node id of this service; never used again. */
  readonly node: number;
  readonly #database: Database;
  readonly #times: LeaseTimes;
  readonly #log: Logger;
  readonly #lost = Promise.withResolvers<FencedError>();
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | null = null;
  /** The one after it, if somebody waits for that. */
  #next: Promise<void> | null = null;
  #isOver = false;
  #renewal: Renewal;
  /** When the lease ends at the earliest. */
  #heldUntil: Instant;
  #hasFailed = false;

  private constructor(
    database: Database,
    { node, heldUntil }: { readonly node: number; readonly heldUntil: Instant },
    times: LeaseTimes,
    log: Logger,
  ) {
    this.#database = database;
    this.node = node;
    this.#times = times;
    this.#log = log;
    this.#renewal = () => this.#extend();
    this.#heldUntil = heldUntil;
    this.#renewSoon(times.renewMs);
  }

  /**
   * Waits for a lease that is not renewed any more. Rejects with a `LogInUseError` when it is, unless it may wait longer: then
   * it also waits while the database is away.
   */
  static async take(
    database: Database,
    identity: NodeIdentity,
    { log, shares = false, standsBy = false, times = LEASE_TIMES }: TakeOptions,
  ): Promise<NodeLease> {
    // The lease of a service that has just died ends within this time.
    const until = standsBy ? Infinity : performance.now() + times.leaseMs + times.renewMs;
    const waiting = standsBy
      ? 'standing by: another service has the log'
      : 'waiting for the lease of the service that had the log before';
    let asked = instant();
    let spareUntil = -Infinity;
    const ask = async (): Promise<Taken> => {
      asked = instant();
      const wanted = { ...identity, shares, leaseMs: times.leaseMs, spares: asked.steady < spareUntil };
      try {
        return await database.transact((session) => take(session, database.schema, wanted));
      } catch (error) {
        // The service that has the log may not reach the database either. Let it renew its lease first.
        if (standsBy) spareUntil = performance.now() + 2 * times.leaseMs;
        throw error;
      }
    };
    for (let holder: Holder | null = null; ; ) {
      const attempt = database.insist('ask for the lease in', ask);
      const taken: Taken = await unlessAway(attempt, standsBy ? holder : null);
      if ('node' in taken)
        return new NodeLease(database, { ...taken, heldUntil: later(asked, times.leaseMs) }, times, log);
      if (performance.now() >= until) throw inUse(database, taken, shares);
      if (holder === null) log.info({ by: taken.name }, waiting);
      holder = taken;
      await pause(Math.min(taken.leftMs + 50, times.renewMs));
    }
  }

  /** Resolves when another service has taken the log over. */
  get lost(): Promise<FencedError> {
    return this.#lost.promise;
  }

  get times(): LeaseTimes {
    return this.#times;
  }

  /** Whether it has certainly not ended. */
  get isHeld(): boolean {
    const { steady, wall } = instant();
    return !this.#isOver && steady < this.#heldUntil.steady && wall < this.#heldUntil.wall;
  }

  /** Renews it in this way, from now on. */
  renewBy(renewal: Renewal): void {
    this.#renewal = renewal;
  }

  /** Call it in a transaction: nobody takes the log over before it is committed. Throws a `FencedError`. */
  async require(session: Session): Promise<void> {
    const held = await session.rows({
      name: 'lease',
      text: `SELECT node FROM ${this.#database.schema}.nodes WHERE node = $1 FOR KEY SHARE`,
      values: [this.node],
    });
    if (held.length === 0) throw this.lose();
  }

  /** Call it when the row of this service is found to be gone. */
  lose(): FencedError {
    const error = new FencedError(
      `another agent-service has taken over the log in PostgreSQL at ${this.#database.shown}: this one was paused, or could not reach the database, for longer than ${this.#times.leaseMs} ms`,
    );
    if (!this.#isOver) {
      this.#isOver = true;
      clearTimeout(this.#timer);
      this.#lost.resolve(error);
    }
    return error;
  }

  /** Ends the lease, so that the next service need not wait for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const wasOver = this.#isOver;
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    if (wasOver) return;
    try {
      await this.#database.rows({
        text: `DELETE FROM ${this.#database.schema}.nodes WHERE node = $1`,
        values: [this.node],
      });
    } catch (err) {
      this.#log.warn({ err }, 'the lease could not be given back: the next service waits until it ends');
    }
  }

  #renewSoon(ms: number): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => void this.renew(), ms);
    this.#timer.unref();
  }

  /**
   * Now, and again after some time. One renewal at a time: each ends with a timer, and only the last timer is known. Whoever
   * comes during one waits for the one after it, because the first may have read too early what it reads.
   */
  renew(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    if (this.#renewing) {
      this.#next ??= this.#renewing.then(() => {
        this.#next = null;
        return this.renew();
      });
      return this.#next;
    }
    this.#renewing = this.#renewNow().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    clearTimeout(this.#timer);
    let next = this.#times.renewMs;
    try {
      const asked = instant();
      const { isHeld, nextMs = next, onHeld } = await this.#renewal();
      if (isHeld) {
        this.#heldUntil = later(asked, this.#times.leaseMs);
        onHeld?.();
      } else this.lose();
      next = Math.min(next, nextMs);
      this.#hasFailed = false;
    } catch (err) {
      // Appends say so, too. Nobody can take the log over while nobody reaches the database.
      if (!isAway(err)) this.#log.error({ err }, 'the lease could not be renewed');
      if (!this.#hasFailed) next = AGAIN_MS;
      this.#hasFailed = true;
    }
    this.#renewSoon(next);
  }

  /** For how long a renewal waits for its answer: there must be time for another one. */
  get patienceMs(): number {
    return this.#times.leaseMs / 2;
  }

  async #extend(): Promise<Renewed> {
    const statement = {
      name: 'renew',
      text: `
        UPDATE ${this.#database.schema}.nodes SET lease_end = clock_timestamp() + $2 * interval '1 ms'
        WHERE node = $1 RETURNING node`,
      values: [this.node, this.#times.leaseMs],
    };
    const renewed = await this.#database.leaseRows(statement, this.patienceMs);
    return { isHeld: renewed.length > 0 };
  }
}

/** By both clocks: the steady one stands still while the machine is suspended, and the other one can be set back. */
interface Instant {
  readonly steady: number;
  readonly wall: number;
}

function instant(): Instant {
  return { steady: performance.now(), wall: Date.now() };
}

function later({ steady, wall }: Instant, ms: number): Instant {
  return { steady: steady + ms, wall: wall + ms };
}

interface Wanted extends NodeIdentity {
  readonly shares: boolean;
  readonly leaseMs: number;
  /** Whether a lease that has ended counts like one that lasts. */
  readonly spares: boolean;
}

interface Holder {
  readonly name: string;
  readonly shares: boolean;
  readonly leftMs: number;
}

/** The lease as the database has given it to this service, or who has it. */
type Taken = { readonly node: number } | Holder;

/** @param holder who has the lease as far as is known, while the database is away. Null: then it rejects. */
async function unlessAway(attempt: Promise<Taken>, holder: Holder | null): Promise<Taken> {
  try {
    return await attempt;
  } catch (error) {
    if (holder && error instanceof StorageAwayError) return holder;
    throw error;
  }
}

async function take(
  session: Session,
  schema: string,
  { name, version, shares, leaseMs, spares }: Wanted,
): Promise<Taken> {
  // Of two that come at once, one waits here and finds the lease of the other.
  await session.rows({ text: `LOCK TABLE ${schema}.nodes IN SHARE ROW EXCLUSIVE MODE`, mayBeLong: true });
  const [living] = await session.rows({
    text: `
      SELECT name, shares, extract(epoch FROM lease_end - clock_timestamp())::float8 * 1000 AS left_ms
      FROM ${schema}.nodes WHERE (lease_end > clock_timestamp() OR $2) AND NOT (shares AND $1)
      ORDER BY lease_end DESC LIMIT 1`,
    values: [shares, spares],
  });
  if (living) {
    const { left_ms: leftMs, ...holder } = HolderRow.parse(living);
    return { ...holder, leftMs: leftMs > 0 ? leftMs : leaseMs };
  }
  // Waits for appends of the service before that are under way. Services that share the log remove each other.
  await session.rows({
    text: `DELETE FROM ${schema}.nodes WHERE lease_end <= clock_timestamp() AND NOT (shares AND $1)`,
    values: [shares],
    mayBeLong: true,
  });
  const [row] = await session.rows({
    text: `
      INSERT INTO ${schema}.nodes (name, version, shares, lease_end)
      VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 ms') RETURNING node`,
    values: [name, version, shares, leaseMs],
  });
  return { node: NodeRow.parse(row).node };
}

function inUse({ shown }: Database, { name, shares: isShared }: Holder, shares: boolean): LogInUseError {
  const where = `the log in PostgreSQL at ${shown} is in use by`;
  const other = 'stop it, or give this one a schema of its own (?schema=…)';
  if (isShared)
    return new LogInUseError(
      `${where} services that share it (${name} is one): a service without --bus would not hear of what they do. Start this one with the same --bus, or ${other.replace('stop it', 'stop them')}`,
    );
  if (shares)
    return new LogInUseError(
      `${where} another agent-service without --bus (${name}), which would not hear of what this one does: start it with the same --bus, ${other}`,
    );
  return new LogInUseError(
    `${where} another agent-service (${name}). Without --bus one service writes it at a time: stop the other one, start all of them with --bus (several services that share a log need it), or give this one a schema of its own (?schema=…)`,
  );
}
