import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { currentEvents } from '../../../core/log/event-codec.ts';
import { SessionEvent } from '../../../core/log/events.ts';
import { holdsConversation } from '../../../core/log/streams.ts';
import {
  evolveTitle,
  NO_TITLE,
  type SessionTitle,
  shownTitle,
  TITLE_EVENTS,
} from '../../../core/session/session-title.ts';
import { logFile } from '../file/data-directory.ts';
import { loadSqlite } from '../file/load-sqlite.ts';
import { eventsOf } from '../file/packed-events.ts';
import { viewReadOnly } from '../file/read-only.ts';
import { laterTables, marks, tables } from '../file/schema.ts';
import { SessionIndex } from '../index/session-index.ts';
import { TitleIndex } from '../index/title-index.ts';
import { type EndedTurn, endCutTurns } from './cut-turns.ts';
import { Salvage, type Sink } from './salvage.ts';

/** A session that lost its last events, those after seq `intactUpTo`, up to and with seq `lostUpTo`. */
export interface CutSession {
  readonly sessionId: SessionId;
  readonly intactUpTo: number;
  readonly lostUpTo: number;
}

export interface RewrittenLog {
  readonly salvage: Salvage;
  readonly cut: readonly CutSession[];
  readonly endedTurns: readonly EndedTurn[];
}

export interface LogToRewrite {
  readonly directory: string;
  /** The seq that each session is known to have had. */
  readonly heads: ReadonlyMap<SessionId, number>;
  /** Where the new log is written; empty for a temporary one. */
  readonly target: string;
}

/**
 * Writes the events that can be salvaged to a new log, and ends the turns that were cut.
 *
 * @param damaged the damaged log with its WAL; undefined when the file is missing.
 */
export function rewriteLog(log: LogToRewrite, damaged?: DatabaseSync): RewrittenLog {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(log.target);
  try {
    // The file needs neither journal nor sync before it is complete.
    db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; ${tables} ${laterTables}`);
    const insert = db.prepare(
      'INSERT INTO events (session, seq, time, type, data, hash) VALUES (?, ?, ?, ?, ?, ?)',
    );
    const titles = new Map<SessionId, SessionTitle>();
    const sink: Sink = (sessionId, row, hash) => {
      insert.run(sessionId, row.seq, row.time, row.type, row.data, hash);
      for (const { type, data } of eventsOf(row)) {
        if (!TITLE_EVENTS.has(type)) continue;
        titles.set(sessionId, evolveTitle(titles.get(sessionId) ?? NO_TITLE, sessionEventIn(data)));
      }
    };
    const salvage = new Salvage(log.heads, sink);
    if (damaged !== undefined) salvageAll(salvage, log, damaged);
    const cut = cutSessions(salvage);
    const endedTurns = writeIndex(db, salvage, { sink, cut: new Set(cut.map(({ sessionId }) => sessionId)) });
    const titleIndex = new TitleIndex(db);
    for (const [sessionId, title] of titles) titleIndex.put(sessionId, shownTitle(title));
    db.exec(`${marks} COMMIT`);
    return { salvage, cut, endedTurns };
  } finally {
    db.close();
  }
}

function sessionEventIn(data: string): SessionEvent {
  return SessionEvent.parse(currentEvents.decode(data).event);
}

function cutSessions({ known, chains }: Salvage): CutSession[] {
  return [...known]
    .map(([sessionId, lostUpTo]) => ({
      sessionId,
      intactUpTo: chains.get(sessionId)?.head ?? 0,
      lostUpTo,
    }))
    .filter(({ intactUpTo, lostUpTo }) => intactUpTo < lostUpTo);
}

/** Indexes each session, after the turns of the cut ones were ended. */
function writeIndex(
  db: DatabaseSync,
  salvage: Salvage,
  { sink, cut }: { readonly sink: Sink; readonly cut: ReadonlySet<SessionId> },
): EndedTurn[] {
  const index = new SessionIndex(db);
  const endedTurns: EndedTurn[] = [];
  for (const [sessionId, chain] of [...salvage.chains]) {
    const indexed = salvage.index.get(sessionId);
    const createdAt = indexed?.createdAt ?? chain.createdAt;
    const closed = cut.has(sessionId) ? endCutTurns(db, sessionId, chain, sink) : null;
    if (closed) {
      endedTurns.push(...closed.ended);
      salvage.chains.set(sessionId, closed.chain);
      const { head, hash, updatedAt } = closed.chain;
      index.put({ sessionId, head, hash, createdAt, updatedAt, open: false });
      continue;
    }
    // Nothing tells whether a session has an open turn that this release cannot read. Marked open, it is checked at the
    // next start.
    const isWhole = indexed?.hash === chain.hash && salvage.known.get(sessionId) === chain.head;
    const { open, updatedAt } = isWhole
      ? indexed
      : { open: holdsConversation(sessionId), updatedAt: chain.updatedAt };
    index.put({ sessionId, head: chain.head, hash: chain.hash, createdAt, updatedAt, open });
  }
  return endedTurns;
}

/**
 * Reads the log with its WAL, the file alone, and the log with its WAL again. A damaged WAL can hide newer pages of the
 * file, and the other way round. The third pass finds events that follow on those of the second pass.
 */
function salvageAll(salvage: Salvage, { directory, heads }: LogToRewrite, damaged: DatabaseSync): void {
  const erased = new Set([...heads].filter(([, seq]) => seq === 0).map(([sessionId]) => sessionId));
  readCutFile(damaged);
  salvage.follow(damaged);
  viewReadOnly(
    logFile(directory),
    (file) => {
      readCutFile(file);
      salvage.follow(file, erased);
    },
    'without WAL',
  );
  salvage.follow(damaged);
}

/** SQLite reads nothing of a file that is shorter than its header says, unless this is set. It cannot be written. */
function readCutFile(readOnly: DatabaseSync): void {
  readOnly.exec('PRAGMA writable_schema = ON');
}
