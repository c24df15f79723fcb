import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { type DatabaseUse, isAbsent } from '../file/data-directory.ts';
import { DamagedLogError, describeLosses, maxNamed } from '../file/log-damage.ts';
import { requireUnused, viewReadOnly } from '../file/read-only.ts';
import { identify, isChained, notAnEventLog } from '../file/schema.ts';
import { isCorrupt, isNotADatabase, isSqliteError } from '../file/sqlite-errors.ts';
import { incompleteIn } from '../index/incomplete-streams.ts';
import { type IndexedSession, SessionIndex } from '../index/session-index.ts';
import { ChainReader } from '../integrity/chain-reader.ts';
import type { RecordedHeads } from '../integrity/head-file.ts';

const smallestPageBytes = 512;

/** How many sessions and events a start checks, so that it takes no longer for a long log. */
const bounds = { openSessions: 1000, lastEvents: 1000 };

/**
 * Checks the log without changing it. Throws when the file is not an event log, or when the end of the log differs
 * from what was acknowledged. Run it before opening for writing: SQLite then discards what it cannot read of the WAL.
 */
export function inspect(file: string, recorded: RecordedHeads | undefined, use: DatabaseUse): void {
  const { size } = statSync(file);
  // SQLite takes anything shorter than its smallest page for an empty file, and would overwrite it.
  if (size > 0 && size < smallestPageBytes) {
    if (recorded === undefined) throw notAnEventLog(file);
    throw new DamagedLogError(file, `it has only ${size} bytes`);
  }
  const journal = `${file}-journal`;
  if (existsSync(journal)) {
    // The creation of the file was interrupted. SQLite rolls it back when it opens the file.
    if (recorded === undefined || !isInWalMode(file)) return;
    if (!isAbsent(journal)) throw new Error(`${journal} does not belong to this event log; move it away`);
  }
  try {
    const look = (db: DatabaseSync): void => {
      const identity = identify(db, file);
      if (identity === 'empty' && recorded !== undefined) throw vanished(file, recorded);
      if (isChained(identity)) requireWholeEnd(db, file, recorded?.heads ?? new Map());
    };
    // A disk without space for a lock has none for a service, which would change files before it finds out.
    viewReadOnly(file, look, use === 'read' ? 'locked if possible' : undefined);
  } catch (error) {
    if (!isCorrupt(error) && !(error instanceof DamagedLogError)) throw error;
    // Without a lock, a file that is being written can look damaged.
    requireUnused(file);
    if (!isCorrupt(error)) throw error;
    // Without a file of high-water marks beside it, it may never have been an event log.
    if (isNotADatabase(error) && recorded === undefined) throw notAnEventLog(file);
    throw new DamagedLogError(file, String(error), { cause: error });
  }
}

/** Whether its header says so. A log in WAL mode never writes a rollback journal. */
function isInWalMode(file: string): boolean {
  const header = Buffer.alloc(20);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return header[18] === 2 && header[19] === 2;
}

/** The error for a log that is missing while its file of high-water marks exists. */
export function vanished(file: string, { heads }: RecordedHeads): DamagedLogError {
  const losses = [...heads].filter(([, seq]) => seq > 0).map(([id, to]) => ({ sessionId: id, from: 1, to }));
  const details = losses.length > 0 ? `: ${describeLosses(losses)}` : '';
  return new DamagedLogError(file, `it is missing or empty${details}`);
}

function requireWholeEnd(db: DatabaseSync, file: string, heads: ReadonlyMap<SessionId, number>): void {
  const index = new SessionIndex(db);
  const links = new ChainReader(db);
  /** The last event that each damaged session is known to have had. */
  const damaged = new Map<SessionId, number>();
  const note = (sessionId: SessionId, seq: number) =>
    damaged.set(sessionId, Math.max(seq, damaged.get(sessionId) ?? 0));
  const check = (session: IndexedSession | undefined, sessionId: SessionId, recorded: number) => {
    const head = session?.head ?? 0;
    const holds = session !== undefined && links.holds(sessionId, head, session.hash);
    if (recorded > head || !holds) note(sessionId, Math.max(recorded, head));
  };
  try {
    for (const [sessionId, seq] of heads) if (seq > 0) check(index.find(sessionId), sessionId, seq);
    for (const session of index.list({ open: true, limit: bounds.openSessions })) {
      if (!heads.has(session.sessionId)) check(session, session.sessionId, session.head);
    }
    for (const { sessionId, seq } of links.last(bounds.lastEvents, incompleteIn(db))) {
      const head = index.find(sessionId)?.head ?? 0;
      if (head < seq) throw new Error(`${sessionId} ${seq} is not in the index`);
      if (!links.holds(sessionId, seq)) note(sessionId, head);
    }
    if (damaged.size > 0) throw new DamagedLogError(file, describeDamage(damaged, links));
  } catch (error) {
    if (isSqliteError(error) || error instanceof DamagedLogError) throw error;
    throw new DamagedLogError(file, String(error), { cause: error });
  }
}

/** What `repair` would cut. The checks above find any of the damaged events of a session, and seldom the first. */
function describeDamage(damaged: ReadonlyMap<SessionId, number>, links: ChainReader): string {
  const losses = [...damaged]
    .slice(0, maxNamed)
    .map(([sessionId, to]) => ({ sessionId, from: links.intactUpTo(sessionId) + 1, to }));
  return describeLosses(losses, damaged.size);
}
