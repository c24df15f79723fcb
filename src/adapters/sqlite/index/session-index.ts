import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { SessionId } from '../../../core/ids.ts';
import type { SessionFilter, SessionSummary } from '../../../ports/event-store.ts';
import { integerOf, textOf } from '../file/columns.ts';
import { SessionCache } from './session-cache.ts';

/** Sorts after every id. */
const AFTER_ALL = '\u{10ffff}';

export interface IndexedSession extends SessionSummary {
  /** The chain hash of the session's last event. */
  readonly hash: string;
}

/**
 * The index of sessions: the head of each, and whether it has an open turn. Each row has a checksum over its other
 * columns, the seal, because nothing else would detect a wrong head.
 */
export class SessionIndex {
  readonly #recent = new SessionCache<IndexedSession>();
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #all: StatementSync;
  readonly #open: StatementSync;
  readonly #closed: StatementSync;
  readonly #ids: StatementSync;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare('SELECT * FROM sessions WHERE session = ?');
    // An upsert keeps the rowid, so an update touches no index, except `open_sessions` when `open` changes.
    this.#put = db.prepare(`
      INSERT INTO sessions (session, head, hash, created, updated, open, seal) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (session) DO UPDATE SET head = excluded.head, hash = excluded.hash,
        updated = excluded.updated, open = excluded.open, seal = excluded.seal
    `);
    this.#remove = db.prepare('DELETE FROM sessions WHERE session = ? RETURNING head');
    this.#all = db.prepare(
      'SELECT * FROM sessions WHERE session > ? AND session < ? ORDER BY session LIMIT ?',
    );
    this.#open = db.prepare(
      'SELECT * FROM sessions WHERE session > ? AND session < ? AND open = 1 ORDER BY session LIMIT ?',
    );
    this.#closed = db.prepare(
      'SELECT * FROM sessions WHERE session > ? AND session < ? AND open = 0 ORDER BY session LIMIT ?',
    );
    this.#ids = db.prepare('SELECT session FROM sessions WHERE session > ? ORDER BY session LIMIT ?');
  }

  /** Throws when the row is damaged. */
  find(sessionId: SessionId): IndexedSession | undefined {
    const recent = this.#recent.find(sessionId);
    if (recent !== undefined) return recent;
    const row = this.#find.get(sessionId);
    if (row === undefined) return undefined;
    const session = parseSession(row);
    // A damaged SQLite index can lead to the row of another session, whose seal is right.
    if (session.sessionId !== sessionId)
      throw new Error(`the index has session ${session.sessionId} in place of ${sessionId}`);
    return session;
  }

  put(session: IndexedSession): void {
    const { sessionId, head, hash, createdAt, updatedAt, open } = session;
    this.#put.run(sessionId, head, hash, createdAt, updatedAt, open ? 1 : 0, sealOf(session));
    this.#recent.put(session);
  }

  /** Empties the cache. Call it after a rollback, which undoes what was put. */
  forget(): void {
    this.#recent.clear();
  }

  /** The seqs of the last events, as they are stored. Whether a row is damaged is not checked. */
  storedHeads(sessionIds: readonly SessionId[]): Map<SessionId, number> {
    const heads = new Map<SessionId, number>();
    for (const sessionId of sessionIds) {
      const row = this.#find.get(sessionId);
      if (row !== undefined) heads.set(sessionId, integerOf(row.head));
    }
    return heads;
  }

  /** Removes a damaged row, too. @returns the seq of the session's last event; 0 if there is no such session. */
  remove(sessionId: SessionId): number {
    this.#recent.clear();
    const row = this.#remove.get(sessionId);
    return row === undefined ? 0 : integerOf(row.head);
  }

  /** Throws when a row is damaged. */
  list({
    sessionId,
    open,
    after = '',
    before = AFTER_ALL,
    limit = Infinity,
  }: SessionFilter): IndexedSession[] {
    if (sessionId !== undefined) {
      const found = this.find(sessionId);
      const matches =
        found && sessionId > after && sessionId < before && (open === undefined || found.open === open);
      return matches ? [found].slice(0, limit) : [];
    }
    const rows = open === undefined ? this.#all : open ? this.#open : this.#closed;
    // A negative limit means none to SQLite.
    return rows.all(after, before, Number.isFinite(limit) ? limit : -1).map(parseSession);
  }

  /** Ids alone; whether their rows are damaged is not checked. */
  ids(after: string, limit: number): string[] {
    return this.#ids.all(after, limit).map(({ session }) => textOf(session));
  }
}

/** Throws when the row is damaged. */
export function parseSession(row: Record<string, unknown>): IndexedSession {
  const session = {
    sessionId: textOf(row.session),
    head: integerOf(row.head),
    hash: textOf(row.hash),
    createdAt: integerOf(row.created),
    updatedAt: integerOf(row.updated),
    open: row.open === 1,
  };
  if (sealOf(session) !== row.seal) throw new Error(`the row of session ${session.sessionId} is damaged`);
  return session;
}

function sealOf({ sessionId, head, hash, createdAt, updatedAt, open }: IndexedSession): number {
  return crc32(`${sessionId}\n${head}\n${hash}\n${createdAt}\n${updatedAt}\n${open}`);
}
