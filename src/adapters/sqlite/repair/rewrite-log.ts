import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import { viewReadOnly } from '../file/read-only.ts';
import { marks, tables } from '../file/schema.ts';
import { SessionIndex } from '../index/session-index.ts';
import { createRepairing } from './repaired-file.ts';
import { Salvage } from './salvage.ts';

/**
 * Writes what can be salvaged as a log of its own, `events.repaired`.
 *
 * @param damaged the log as SQLite shows it; left out when there is none.
 */
export function rewriteLog(
  directory: string,
  heads: ReadonlyMap<SessionId, number>,
  damaged?: DatabaseSync,
): Salvage {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(createRepairing(directory));
  try {
    // Nothing depends on the file before it is complete.
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; ${tables}`);
    const insert = db.prepare(
      'INSERT INTO events (session, seq, time, type, data, hash) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const salvage = new Salvage(heads, (sessionId, { seq, time, type, data }, hash) => {
      insert.run(sessionId, seq, time, type, data, hash);
    });
    if (damaged !== undefined) salvageAll(salvage, directory, heads, damaged);
    const index = new SessionIndex(db);
    for (const [sessionId, chain] of salvage.chains) {
      const indexed = salvage.index.get(sessionId);
      const createdAt = indexed?.createdAt ?? chain.createdAt;
      // Of a session that was cut nobody knows. Marked open it will be looked at.
      const isWhole = indexed?.hash === chain.hash && salvage.known.get(sessionId) === chain.head;
      const { open, updatedAt } = isWhole ? indexed : { open: true, updatedAt: chain.updatedAt };
      index.put({ sessionId, head: chain.head, hash: chain.hash, createdAt, updatedAt, open });
    }
    db.exec(`${marks} COMMIT`);
    return salvage;
  } finally {
    db.close();
  }
}

/**
 * What a damaged WAL hides can still be in the file, or the other way round: an earlier page in the WAL takes the
 * place of a later one in the file. The third look finds what follows on events that only the second one had.
 */
function salvageAll(
  salvage: Salvage,
  directory: string,
  heads: ReadonlyMap<SessionId, number>,
  damaged: DatabaseSync,
): void {
  const erased = new Set([...heads].filter(([, seq]) => seq === 0).map(([sessionId]) => sessionId));
  salvage.follow(damaged);
  viewReadOnly(join(directory, 'events.db'), (file) => salvage.follow(file, erased), 'without WAL');
  salvage.follow(damaged);
}
