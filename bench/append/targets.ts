import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextLoop } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { loadSqlite } from '../../src/adapters/sqlite/file/load-sqlite.ts';
import { createJsonLogger } from '../../src/app/logger.ts';
import { parseStoreUrl } from '../../src/config/addresses/store-url.ts';
import type { SessionEvent } from '../../src/core/log/events.ts';
import type { EventStore } from '../../src/ports/event-store.ts';

type PostgresModule = typeof import('../../src/adapters/postgres/open-postgres.ts');
type LogModule = typeof import('../../src/adapters/sqlite/log/sqlite-event-store.ts');

/** A log under measurement. `append` resolves when the event would survive a crash of the machine. */
export interface AppendTarget {
  append(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

const turnId = '0b1f6a52-58b6-4d7c-9a3f-6f0f8f1f2a11';
const event: SessionEvent = {
  type: 'step.completed',
  turnId,
  step: 1,
  parts: [{ type: 'text', text: 'an answer, '.repeat(20) }],
  separator: '',
  source: { api: 'chat', provider: 'openai', model: 'gpt-4.1-mini' },
};

export interface TargetFolders {
  /** Of the events. */
  readonly directory: string;
  /** Of the checkout whose log is measured. */
  readonly root: string;
  /** Of the PostgreSQL database, for the targets that need one. */
  readonly url: string;
}

export function openTarget(kind: string, { directory, root, url }: TargetFolders): Promise<AppendTarget> {
  switch (kind) {
    case 'log':
      return openLog(directory, root);
    case 'sqlite':
      return openSqlite(directory);
    case 'lines':
      return openLines(directory);
    case 'postgres':
      return openPostgresLog(url, root);
    case 'postgres-rows':
      return openPostgresRows(url);
    default:
      throw new Error(`there is no target ${kind}`);
  }
}

/** The event log of the service, which batches by itself. */
async function openLog(directory: string, root: string): Promise<AppendTarget> {
  const file = join(root, 'src/adapters/sqlite/log/sqlite-event-store.ts');
  const { openSqliteEventStore }: LogModule = await import(pathToFileURL(file).href);
  return appendingTo(await openSqliteEventStore({ directory, log: createJsonLogger('error') }));
}

/** The same in PostgreSQL. */
async function openPostgresLog(url: string, root: string): Promise<AppendTarget> {
  const file = join(root, 'src/adapters/postgres/open-postgres.ts');
  const { openPostgres }: PostgresModule = await import(pathToFileURL(file).href);
  const identity = { name: 'a bench', version: '0' };
  return appendingTo((await openPostgres(url, { identity, log: createJsonLogger('error') })).store);
}

function appendingTo(store: EventStore): AppendTarget {
  const heads = new Map<string, number>();
  return {
    async append(sessionId) {
      const head = heads.get(sessionId) ?? 0;
      heads.set(sessionId, head + 1);
      await store.append(sessionId, head, [event]);
    },
    close: async () => store[Symbol.asyncDispose](),
  };
}

/**
 * The control `floor`: the same rows in the same batches, without the log's thread, chain of hashes, index of
 * sessions and high-water marks beside the WAL.
 */
async function openSqlite(directory: string): Promise<AppendTarget> {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(join(directory, 'bare.db'));
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  db.exec(
    'CREATE TABLE events (session TEXT NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (session, seq)) STRICT',
  );
  const insert = db.prepare('INSERT INTO events (session, seq, time, type, data) VALUES (?, ?, ?, ?, ?)');
  const heads = new Map<string, number>();
  return {
    append: inBatches(async (sessionIds) => {
      // node:sqlite is synchronous: without this the event loop would never continue.
      await nextLoop();
      const time = Date.now();
      db.exec('BEGIN');
      for (const sessionId of sessionIds) {
        const seq = (heads.get(sessionId) ?? 0) + 1;
        heads.set(sessionId, seq);
        insert.run(sessionId, seq, time, event.type, JSON.stringify(event));
      }
      db.exec('COMMIT');
    }),
    close: async () => db.close(),
  };
}

/** The control of PostgreSQL: the same rows, inserted by one statement for each batch. */
async function openPostgresRows(url: string): Promise<AppendTarget> {
  const { connectionString, schema } = parseStoreUrl(url);
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(
    `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.bare (session text, seq integer, time bigint, type text, data text, PRIMARY KEY (session, seq))`,
  );
  const heads = new Map<string, number>();
  return {
    append: inBatches(async (sessionIds) => {
      const seqs = sessionIds.map((sessionId) => {
        const seq = (heads.get(sessionId) ?? 0) + 1;
        heads.set(sessionId, seq);
        return seq;
      });
      await client.query({
        name: 'insert',
        text: `INSERT INTO ${schema}.bare SELECT e.session, e.seq, $3, $4, e.data FROM unnest($1::text[], $2::int[], $5::text[]) AS e (session, seq, data)`,
        values: [sessionIds, seqs, Date.now(), event.type, sessionIds.map(() => JSON.stringify(event))],
      });
    }),
    close: () => client.end(),
  };
}

/** The control `plain`: one line of JSON for each event, and one fdatasync for each batch. */
async function openLines(directory: string): Promise<AppendTarget> {
  const file = await open(join(directory, 'events.jsonl'), 'a');
  return {
    append: inBatches(async (sessionIds) => {
      const time = Date.now();
      const lines = sessionIds.map((sessionId) => `${JSON.stringify({ sessionId, time, event })}\n`);
      await file.write(lines.join(''));
      await file.datasync();
    }),
    close: () => file.close(),
  };
}

/** Calls that arrive while a batch is being written form the next batch. */
function inBatches(write: (sessionIds: readonly string[]) => Promise<void>): AppendTarget['append'] {
  let gathered: string[] = [];
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();
  return (sessionId) => {
    gathered.push(sessionId);
    next ??= last.then(() => {
      const batch = gathered;
      gathered = [];
      last = write(batch);
      next = null;
      return last;
    });
    return next;
  };
}
