import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { chainHash, chainStart } from '../../../stored-log/chain.ts';
import { integerOf, textOf } from '../file/columns.ts';
import { DamagedLogError } from '../file/log-damage.ts';
import { marks, tables, tablesIn } from '../file/schema.ts';
import { type IndexedSession, SessionIndex } from '../index/session-index.ts';

/** Migrates a log of version 1 to the current version, within the transaction of the caller. */
export function migrate(db: DatabaseSync, file: string): void {
  db.exec(`ALTER TABLE events RENAME TO events_1; ${tables}`);
  chainAndIndex(db, file, 'main.events_1');
  db.exec(`DROP TABLE events_1; ${marks}`);
}

/** Makes a log of version 1 readable for this connection, and changes no file. */
export function migrateToRead(db: DatabaseSync, file: string): void {
  db.exec(tablesIn('temp'));
  chainAndIndex(db, file, 'main.events');
}

/**
 * Version 1 had neither chain nor index. No session is marked open: version 1 did not record it, and continued no session
 * after a restart.
 */
function chainAndIndex(db: DatabaseSync, file: string, source: string): void {
  const insert = db.prepare(
    'INSERT INTO events (session, seq, time, type, data, hash) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const sessions = new Map<SessionId, IndexedSession>();
  // In the order of arrival, which is also the order within each session.
  for (const row of db
    .prepare(`SELECT session, seq, time, type, data FROM ${source} ORDER BY rowid`)
    .iterate()) {
    const sessionId = textOf(row.session);
    const link = {
      seq: integerOf(row.seq),
      time: integerOf(row.time),
      type: textOf(row.type),
      data: textOf(row.data),
    };
    const session = sessions.get(sessionId);
    const expected = (session?.head ?? 0) + 1;
    if (link.seq !== expected) throw new DamagedLogError(file, `session ${sessionId} lost seq ${expected}`);
    const hash = chainHash(session?.hash ?? chainStart, sessionId, link);
    insert.run(sessionId, link.seq, link.time, link.type, link.data, hash);
    const { time } = link;
    const createdAt = session?.createdAt ?? time;
    sessions.set(sessionId, { sessionId, head: link.seq, hash, createdAt, updatedAt: time, open: false });
  }
  const index = new SessionIndex(db);
  for (const session of sessions.values()) index.put(session);
}
