import { parseStoreUrl } from '../../config/addresses/store-url.ts';
import type { FencedError } from '../../core/log/fenced.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Membership } from '../../ports/membership.ts';
import type { SnapshotStore } from '../../ports/snapshot-store.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { type LeaseTimes, type NodeIdentity, NodeLease } from './node-lease.ts';
import { type PostgresEventStoreOptions, postgresEventStore } from './postgres-event-store.ts';
import { PostgresMembership } from './postgres-membership.ts';
import { postgresSnapshotStore } from './postgres-snapshot-store.ts';

export interface PostgresOptions extends PostgresEventStoreOptions, DatabaseOptions {
  /** Who opens it, for whoever finds it in use. */
  readonly identity: NodeIdentity;
  readonly log: Logger;
  /** Whether several services share the log. They must hear of each other. */
  readonly shares?: boolean | undefined;
  /** Waits as long as another service has the log, instead of rejecting. */
  readonly standsBy?: boolean | undefined;
  readonly leaseTimes?: LeaseTimes;
}

export interface PostgresStores {
  /** Closes the database, which the snapshots need. */
  readonly store: EventStore;
  readonly snapshots: SnapshotStore;
  /** Resolves when another service has taken the log over: this one must end. */
  readonly lost: Promise<FencedError>;
  /** Rejects with a `FencedError` if another service has taken the log over since it was opened. */
  requireLease(): Promise<void>;
  /** The services that share the log. Undefined where one has it. */
  readonly membership: Membership | undefined;
}

/** Opens a log in PostgreSQL to read it, also while a service uses it. Rejects if there is none. */
export async function readPostgres(url: string, log: Logger): Promise<EventStore> {
  const database = await Database.open(parseStoreUrl(url), log, { makesTables: false });
  return postgresEventStore(database, null);
}

/**
 * Opens the log in PostgreSQL, for one service at a time or for several that share it.
 *
 * @param url `postgres://user:password@host:5432/database`, with `?schema=…` for tables in another schema.
 */
export async function openPostgres(
  url: string,
  { identity, log, shares = false, standsBy, leaseTimes, timeouts, makesTables, ...options }: PostgresOptions,
): Promise<PostgresStores> {
  const database = await Database.open(parseStoreUrl(url), log, { makesTables, timeouts });
  try {
    const lease = await NodeLease.take(database, identity, { log, shares, standsBy, times: leaseTimes });
    const epochs = new Map<string, number>();
    return {
      membership: shares ? await PostgresMembership.join(database, lease, epochs) : undefined,
      store: postgresEventStore(database, lease, { ...options, epochs }),
      snapshots: postgresSnapshotStore(database, { lease, shares }),
      lost: lease.lost,
      requireLease: () => database.transact((session) => lease.require(session)),
    };
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}
