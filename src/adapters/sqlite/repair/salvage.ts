import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { chainHash, chainStart, type Link } from '../../../stored-log/chain.ts';
import { integerOf, textOf } from '../file/columns.ts';
import { firstSeqOf } from '../file/packed-events.ts';
import { isSqliteError, rethrowObstacle } from '../file/sqlite-errors.ts';
import { incompleteIn } from '../index/incomplete-streams.ts';
import { type IndexedSession, parseSession } from '../index/session-index.ts';
import { storedLink } from '../integrity/chain-reader.ts';
import { hasTable, readableRows } from './readable-rows.ts';

const maxFindings = 20;

type Row = Record<string, SQLOutputValue>;

/** The intact part of a session, up to the event `head`. */
export interface Chain {
  readonly head: number;
  readonly hash: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Receives each row that is proved to be the next of its session. */
export type Sink = (sessionId: SessionId, link: Link, hash: string) => void;

/**
 * Follows the hash chains of all sessions through the readable rows of one or several views of a log. An event counts
 * only if it is linked to its predecessor, so a damaged or misplaced row is never taken for an event.
 */
export class Salvage {
  readonly chains = new Map<SessionId, Chain>();
  /** The rows of the index whose seals are right. */
  readonly index = new Map<SessionId, IndexedSession>();
  /** The highest seq each session is known to have had. */
  readonly known = new Map<SessionId, number>();
  /** Descriptions of the first few problems. */
  readonly findings: string[] = [];
  /** Whether there is an index of sessions. Version 1 had none. */
  hasIndex = false;
  /** Whether any view had a row of events, or a table of events that is whole and empty. */
  hasEvents = false;
  readonly #sink: Sink;
  /** Streams that were being stored or removed, and are not known to have been whole since. */
  readonly #incomplete = new Set<SessionId>();
  /** Seq and stored hash of the last row read of each session, whether or not it is intact. */
  readonly #seen = new Map<SessionId, { readonly seq: number; readonly hash: string }>();

  constructor(heads: ReadonlyMap<SessionId, number>, sink: Sink = () => undefined) {
    this.#sink = sink;
    for (const [sessionId, seq] of heads) this.#note(sessionId, seq);
  }

  /** Reads one view of the log. @param erased sessions to ignore in this view. */
  follow(db: DatabaseSync, erased: ReadonlySet<SessionId> = new Set()): void {
    for (const id of this.#incompleteIn(db)) if ((this.known.get(id) ?? 0) === 0) this.#incomplete.add(id);
    const skip = erased.union(this.#incomplete);
    if (this.#has(db, 'sessions')) {
      this.hasIndex = true;
      this.#read(db, 'sessions', (row) => this.#takeIndexRow(row, skip));
    }
    if (this.#has(db, 'events') && this.#read(db, 'events', (row) => this.#takeEvents(row, skip)))
      this.hasEvents = true;
  }

  #incompleteIn(db: DatabaseSync): Iterable<SessionId> {
    try {
      return incompleteIn(db);
    } catch (error) {
      rethrowObstacle(error);
      this.#find(error);
      return [];
    }
  }

  #has(db: DatabaseSync, table: 'events' | 'sessions'): boolean {
    try {
      if (!hasTable(db, table)) return false;
      // Where the schema is damaged, SQLite may not know the table all the same.
      db.prepare(`SELECT rowid FROM ${table}`);
      return true;
    } catch (error) {
      rethrowObstacle(error);
      // Not even the schema can be read, so this view has no rows.
      this.#find(error);
      return false;
    }
  }

  /** @returns whether there was a row, or certainly none. */
  #read(db: DatabaseSync, table: 'events' | 'sessions', take: (row: Row) => void): boolean {
    let [rows, unreadable] = [0, 0];
    const onUnreadable = (error: unknown): void => {
      unreadable += 1;
      this.#find(error);
    };
    for (const row of readableRows(db, table, onUnreadable)) {
      rows += 1;
      this.#guarded(() => take(row));
    }
    return rows > 0 || unreadable === 0;
  }

  #takeIndexRow(row: Row, skip: ReadonlySet<SessionId>): void {
    const session = parseSession(row);
    if (skip.has(session.sessionId)) return;
    const known = this.index.get(session.sessionId);
    if (known === undefined || known.head < session.head) this.index.set(session.sessionId, session);
    this.#note(session.sessionId, session.head);
  }

  #takeEvents(row: Row, skip: ReadonlySet<SessionId>): void {
    const sessionId = textOf(row.session);
    if (skip.has(sessionId)) return;
    const chain = this.chains.get(sessionId);
    const previous = chain?.hash ?? chainStart;
    const link = row.hash === undefined ? versionOneLink(row, sessionId, previous) : storedLink(row);
    const { seq } = link;
    const first = firstSeqOf(link);
    const expected = (chain?.head ?? 0) + 1;
    if (first === expected && chainHash(previous, sessionId, link) === link.hash) {
      const { hash, time } = link;
      this.chains.set(sessionId, { head: seq, hash, createdAt: chain?.createdAt ?? time, updatedAt: time });
      this.#note(sessionId, seq);
      this.#sink(sessionId, link, hash);
    } else if (seq >= expected) {
      this.#find(`session ${sessionId}, seq ${first} is not linked to the event before it`);
      // The row is linked at least to the row before it, so its seq is right.
      const seen = this.#seen.get(sessionId);
      if (seen?.seq === first - 1 && chainHash(seen.hash, sessionId, link) === link.hash)
        this.#note(sessionId, seq);
    }
    this.#seen.set(sessionId, { seq, hash: link.hash });
  }

  #find(finding: unknown): void {
    if (this.findings.length < maxFindings) this.findings.push(String(finding));
  }

  #note(sessionId: SessionId, seq: number): void {
    this.known.set(sessionId, Math.max(seq, this.known.get(sessionId) ?? 0));
  }

  #guarded(take: () => void): void {
    try {
      take();
    } catch (error) {
      // SQLite's errors come from the sink. All others mean that the row is damaged.
      if (isSqliteError(error)) throw error;
      this.#find(error);
    }
  }
}

/** Version 1 had no hashes. All that can be checked of a row is its types, its seq and that it is JSON. */
function versionOneLink(row: Row, sessionId: SessionId, previous: string) {
  const link = {
    seq: integerOf(row.seq),
    time: integerOf(row.time),
    type: textOf(row.type),
    data: textOf(row.data),
  };
  JSON.parse(link.data);
  return { ...link, hash: chainHash(previous, sessionId, link) };
}
