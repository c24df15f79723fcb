import pg, { type PoolClient, type QueryConfig, type QueryResult } from 'pg';
import type { StoreAddress } from '../../config/addresses/store-url.ts';
import { messageOf } from '../../core/thrown.ts';
import type { Logger } from '../../ports/logger.ts';
import { pause } from '../../timing/pause.ts';
import { retryDelayMs } from '../../timing/retry-delay.ts';
import { IdleConnections } from './idle-connections.ts';
import { idleLimit } from './idle-limit.ts';
import {
  explained,
  isAway,
  isInTheWay,
  isReadOnly,
  isSilence,
  notOpened,
  READING,
} from './postgres-errors.ts';
import { migrate, requireTables } from './schema.ts';
import type { Row, Session, Statement } from './sql-session.ts';

/** Ten together. Whoever reads much, or forks a long session, must keep neither an append waiting nor the lease. */
const CONNECTIONS = { lease: 1, appends: 2, others: 7 };
type Lane = keyof typeof CONNECTIONS;
/** Most that the lease waits for its connection. It lasts for two seconds, and there must be time for another try. */
const LEASE_CONNECT_MS = 1_000;
const BETWEEN_TRIES = { firstMs: 50, mostMs: 500, jitter: 0.5 };

/** In milliseconds. */
export interface DatabaseTimeouts {
  readonly connectMs: number;
  /** After it the server gives up a statement. */
  readonly statementMs: number;
  /** After it a connection that says nothing is given up: its network drops what is sent. */
  readonly silenceMs: number;
  /** For how long work is repeated when the database goes away. A failover that is shorter goes unnoticed. */
  readonly patienceMs: number;
}

const TIMEOUTS: DatabaseTimeouts = {
  connectMs: 3_000,
  statementMs: 30_000,
  silenceMs: 5_000,
  patienceMs: 3_000,
};

export interface DatabaseOptions {
  /** Whether to make the tables, or to bring them up to date. Otherwise they must be there. */
  readonly makesTables?: boolean | undefined;
  readonly timeouts?: DatabaseTimeouts | undefined;
}

/** The driver knows it, its types do not. */
interface TimedQuery extends QueryConfig {
  readonly query_timeout: number;
}

/** A pool, or one of its connections. */
interface Queryable {
  query(query: TimedQuery): Promise<QueryResult<Row>>;
}

interface TransactOptions {
  /** The transaction waits for somebody outside, for as long as that takes. Closing the database ends it. */
  readonly endless?: boolean;
  readonly lane?: Lane;
}

/** The connections to one PostgreSQL database. */
export class Database implements Session, AsyncDisposable {
  readonly schema: string;
  /** For people: without user and password. */
  readonly shown: string;
  readonly #pools: Readonly<Record<Lane, pg.Pool>>;
  readonly #idle: IdleConnections;
  readonly #log: Logger;
  readonly #timeouts: DatabaseTimeouts;
  /** What the database does not do for now. Nobody then waits for it long. */
  #lacks: 'everything' | 'writes' | null = null;
  #closed: Promise<void> | undefined;
  /** Transactions that wait for somebody outside. Closing ends them. */
  readonly #endless = new Set<PoolClient>();

  private constructor(
    pools: Readonly<Record<Lane, pg.Pool>>,
    { schema, shown }: StoreAddress,
    { log, timeouts }: { readonly log: Logger; readonly timeouts: DatabaseTimeouts },
  ) {
    this.#pools = pools;
    this.#idle = new IdleConnections(Object.values(pools));
    this.#log = log;
    this.#timeouts = timeouts;
    this.schema = schema;
    this.shown = shown;
    // Without listeners, a lost connection would end the process. Whoever asks next hears of it.
    const noticed = (err: Error) => log.debug({ err }, 'a connection to PostgreSQL was lost');
    for (const pool of Object.values(pools)) {
      // At once: a server that stops may end a connection with the bytes that establish it, before whoever waits gets it.
      pool.on('connect', (client) => client.on('error', noticed));
      // The pool repeats what an idle connection has said.
      pool.on('error', () => undefined);
    }
  }

  /** Connects, and makes the tables or brings them up to date. Rejects with an error that says what is wrong. */
  static async open(
    address: StoreAddress,
    log: Logger,
    { makesTables = true, timeouts = TIMEOUTS }: DatabaseOptions = {},
  ): Promise<Database> {
    const pool = (lane: Lane) =>
      new pg.Pool({
        connectionString: address.connectionString,
        application_name: 'agent-service',
        max: CONNECTIONS[lane],
        keepAlive: true,
        connectionTimeoutMillis:
          lane === 'lease' ? Math.min(LEASE_CONNECT_MS, timeouts.connectMs) : timeouts.connectMs,
        statement_timeout: timeouts.statementMs,
      });
    const pools = { lease: pool('lease'), appends: pool('appends'), others: pool('others') };
    const database = new Database(pools, address, { log, timeouts });
    try {
      if (makesTables) await database.transact((session) => migrate(session, address.schema));
      else await requireTables(database, address.schema);
      await database.#requireSync();
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw notOpened(error, address.shown);
    }
  }

  rows(statement: Statement): Promise<readonly Row[]> {
    return this.#ask(this.#pools.others, this.#asQuery(statement));
  }

  /** For the lease, which has a connection of its own. A connection that says nothing for so long is given up. */
  leaseRows(statement: Statement, silenceMs: number): Promise<readonly Row[]> {
    return this.#ask(this.#pools.lease, { ...this.#asQuery(statement), query_timeout: silenceMs });
  }

  /** Does appends on a connection, and does not begin them without one. */
  appending<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#borrow({ lane: 'appends' }, (session) => work(session));
  }

  /** All of the work or nothing. It may be repeated only if nobody else sees it before the commit. */
  transact<T>(
    work: (session: Session) => Promise<T>,
    { endless = false, lane = 'others' }: TransactOptions = {},
  ): Promise<T> {
    return this.#borrow({ lane, endless }, async (session, giveUp) => {
      try {
        // A machine that is lost meanwhile would keep its locks for hours, and with them every other node.
        await session.rows({ text: `BEGIN; ${idleLimit()}` });
        const done = await work(session);
        await session.rows({ text: 'COMMIT' });
        return done;
      } catch (error) {
        // A connection that says nothing would not answer this either.
        if (isAway(error) || !(await succeeds(session.rows({ text: 'ROLLBACK' })))) giveUp();
        throw error;
      }
    });
  }

  /** @param work gives the connection up if nobody shall use it again. */
  async #borrow<T>(
    { lane, endless = false }: { readonly lane: Lane; readonly endless?: boolean },
    work: (session: Session, giveUp: () => void) => Promise<T>,
  ): Promise<T> {
    const client = await this.#pools[lane].connect();
    if (endless) this.#endless.add(client);
    let isBroken = false;
    const rows: Session['rows'] = (statement) => this.#ask(client, this.#asQuery(statement));
    try {
      return await work({ rows }, () => {
        isBroken = true;
      });
    } catch (error) {
      isBroken ||= isAway(error);
      throw error;
    } finally {
      if (!endless || this.#endless.delete(client)) client.release(isBroken);
    }
  }

  /**
   * Does the work again while another transaction is in its way, and for some time while the database is away. The work
   * must come to the same if it was done before and nobody heard of it.
   */
  async insist<T>(attempt: string, work: () => Promise<T>): Promise<T> {
    const isPatient = !this.#lacks;
    const until = performance.now() + (isPatient ? this.#timeouts.patienceMs : 0);
    for (let failures = 1; ; failures += 1) {
      try {
        const done = await work();
        this.#noteAnswer(attempt);
        return done;
      } catch (error) {
        const mayPass = isAway(error) || isInTheWay(error);
        // One connection that says nothing takes all the time, and another one may answer at once.
        const isOver = performance.now() >= until && !(isPatient && failures === 1);
        if (!mayPass || this.#closed || isOver) {
          this.#noteLoss(error);
          throw this.#failure(error, attempt);
        }
        await pause(retryDelayMs(failures, Math.random, BETWEEN_TRIES));
      }
    }
  }

  /**
   * Does the work once. If it fails, it is not known whether it was done, unless the error says so. One lost connection does
   * not say that the database is away.
   */
  async once<T>(attempt: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(error, attempt);
    }
  }

  /** Resolves when what runs is done. What waits for somebody outside is given up. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const client of this.#endless) client.release(true);
    this.#endless.clear();
    await Promise.all(Object.values(this.#pools).map((pool) => pool.end()));
  }

  async #ask(queryable: Queryable, query: TimedQuery): Promise<readonly Row[]> {
    try {
      return (await queryable.query(query)).rows;
    } catch (error) {
      // Connections that were made since it was sent may be well.
      if (isSilence(error)) this.#idle.drop(performance.now() - query.query_timeout);
      throw error;
    }
  }

  #asQuery({ values, mayBeLong = false, ...statement }: Statement): TimedQuery {
    const { silenceMs, statementMs } = this.#timeouts;
    const query_timeout = mayBeLong ? statementMs + silenceMs : silenceMs;
    return { ...statement, query_timeout, ...(values && { values: [...values] }) };
  }

  #noteLoss(error: unknown): void {
    if (!isAway(error) || this.#closed) return;
    if (!this.#lacks) this.#log.error({ database: this.shown, err: error }, 'PostgreSQL cannot be reached');
    this.#lacks = isReadOnly(error) ? 'writes' : 'everything';
  }

  #failure(error: unknown, attempt: string): unknown {
    if (isInTheWay(error))
      this.#log.warn(
        { database: this.shown, attempt, reason: messageOf(error) },
        'PostgreSQL was asked in vain: something else is in the way, such as a lock',
      );
    return explained(error, this.shown, attempt);
  }

  /** A database that takes no writes answers readers all the time. */
  #noteAnswer(attempt: string): void {
    if (!this.#lacks || (this.#lacks === 'writes' && attempt === READING)) return;
    this.#lacks = null;
    this.#log.info({ database: this.shown }, 'PostgreSQL can be reached again');
  }

  /** An append that has resolved must survive a crash of the database's machine. */
  async #requireSync(): Promise<void> {
    const [row] = await this.rows({
      text: "SELECT current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync",
    });
    if (row?.commit === 'off')
      throw new Error(
        `PostgreSQL at ${this.shown} has synchronous_commit = off, so it would lose what it has confirmed: set it to on for this user (ALTER ROLE … SET synchronous_commit = on)`,
      );
    if (row?.fsync === 'off')
      this.#log.warn(
        { database: this.shown },
        'PostgreSQL has fsync = off: a crash of its machine may lose the log',
      );
  }
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
