import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { currentEvents } from '../../../core/log/event-codec.ts';
import { SessionEvent } from '../../../core/log/events.ts';
import { evolveTitle, NO_TITLE, type SessionTitle, shownTitle } from '../../../core/session/session-title.ts';
import { logFile } from '../file/data-directory.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import { viewReadOnly } from '../file/read-only.ts';
import { marks, tables, titlesTable } from '../file/schema.ts';
import { SessionIndex } from '../index/session-index.ts';
import { TitleIndex } from '../index/title-index.ts';
import { createRepairing } from './repaired-file.ts';
import { Salvage } from './salvage.ts';

/**
 * Writes the events that can be salvaged to a new log, `events.repairing`.
 *
 * @param damaged the damaged log with its WAL; undefined when the file is missing.
 */
export function rewriteLog(
  directory: string,
  heads: ReadonlyMap<SessionId, number>,
  damaged?: DatabaseSync,
): Salvage {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(createRepairing(directory));
  try {
    // The file needs neither journal nor sync before it is complete.
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; ${tables} ${titlesTable}`);
    const insert = db.prepare(
      'INSERT INTO events (session, seq, time, type, data, hash) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const titles = new Map<SessionId, SessionTitle>();
    const salvage = new Salvage(heads, (sessionId, { seq, time, type, data }, hash) => {
      insert.run(sessionId, seq, time, type, data, hash);
      if (!titleEvents.has(type)) return;
      titles.set(sessionId, evolveTitle(titles.get(sessionId) ?? NO_TITLE, sessionEventIn(data)));
    });
    if (damaged !== undefined) salvageAll(salvage, directory, heads, damaged);
    const index = new SessionIndex(db);
    for (const [sessionId, chain] of salvage.chains) {
      const indexed = salvage.index.get(sessionId);
      const createdAt = indexed?.createdAt ?? chain.createdAt;
      // Nothing tells whether a truncated session has an open turn. Marked open, it is checked at the next start.
      const isWhole = indexed?.hash === chain.hash && salvage.known.get(sessionId) === chain.head;
      const { open, updatedAt } = isWhole ? indexed : { open: true, updatedAt: chain.updatedAt };
      index.put({ sessionId, head: chain.head, hash: chain.hash, createdAt, updatedAt, open });
    }
    const titleIndex = new TitleIndex(db);
    for (const [sessionId, title] of titles) titleIndex.put(sessionId, shownTitle(title));
    db.exec(`${marks} COMMIT`);
    return salvage;
  } finally {
    db.close();
  }
}

/** The events that change a title. */
const titleEvents: ReadonlySet<string> = new Set<SessionEvent['type']>(['turn.requested', 'session.renamed']);

function sessionEventIn(data: string): SessionEvent {
  return SessionEvent.parse(currentEvents.decode(data).event);
}

/**
 * Reads the log with its WAL, the file alone, and the log with its WAL again. A damaged WAL can hide newer pages of the
 * file, and the other way round. The third pass finds events that follow on those of the second pass.
 */
function salvageAll(
  salvage: Salvage,
  directory: string,
  heads: ReadonlyMap<SessionId, number>,
  damaged: DatabaseSync,
): void {
  const erased = new Set([...heads].filter(([, seq]) => seq === 0).map(([sessionId]) => sessionId));
  salvage.follow(damaged);
  viewReadOnly(logFile(directory), (file) => salvage.follow(file, erased), 'without WAL');
  salvage.follow(damaged);
}
