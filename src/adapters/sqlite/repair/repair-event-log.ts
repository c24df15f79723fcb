import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { isAbsent, logFile, repairedFile, requireEventLog, requireUsable } from '../file/data-directory.ts';
import { viewReadOnly } from '../file/read-only.ts';
import { structuralDamage } from '../file/schema.ts';
import { explainSqliteError, isBusy, rethrowObstacle } from '../file/sqlite-errors.ts';
import { readHeads } from '../integrity/head-file.ts';
import { hasTable } from './readable-rows.ts';
import { backUp, complete, putInPlace } from './repaired-file.ts';
import { rewriteLog } from './rewrite-log.ts';
import { Salvage } from './salvage.ts';

/** A session that lost its last events, those after seq `intactUpTo`, up to and with seq `lostUpTo`. */
export interface CutSession {
  readonly sessionId: SessionId;
  readonly intactUpTo: number;
  readonly lostUpTo: number;
}

export interface RepairReport {
  /** True when there was nothing to repair, and nothing was changed. */
  readonly healthy: boolean;
  /** Sessions in the log now. */
  readonly sessions: number;
  /** Events in the log now. */
  readonly events: number;
  readonly cut: readonly CutSession[];
  /** Descriptions of the first few problems found. */
  readonly findings: readonly string[];
  /** The folder with copies of the damaged files. */
  readonly backup?: string;
}

type Heads = ReadonlyMap<SessionId, number>;

const maxFindings = 20;

/**
 * Verifies every event of the log in a data directory. If something is wrong, it copies the damaged files into a folder
 * beside the log and writes the log anew: each session up to the last event that is linked to all events before it.
 * The next repair finishes one that was interrupted.
 */
export async function repairEventLog(dataDirectory: string): Promise<RepairReport> {
  const directory = resolve(dataDirectory);
  const file = logFile(directory);
  if (existsSync(repairedFile(directory))) putInPlace(directory);
  requireEventLog(directory);
  requireUsable(directory);
  const recorded = readHeads(directory);
  const isGone = isAbsent(file);
  const heads = recorded?.heads ?? new Map();
  try {
    const report = repair(directory, heads, isGone);
    if (!report.healthy) putInPlace(directory);
    return report;
  } catch (error) {
    if (isBusy(error)) throw new Error(`${directory} is in use; stop the service first`, { cause: error });
    throw explainSqliteError(error, file, 'repair');
  }
}

function repair(directory: string, heads: Heads, isGone: boolean): RepairReport {
  const file = logFile(directory);
  const sound = new Salvage(heads);
  // Two views, each with a lock: copying the file closes a descriptor, which drops all POSIX locks on it.
  const findings = isGone
    ? [`${file} is missing or empty`]
    : viewReadOnly(file, (db) => verify(sound, db), 'locked');
  if (findings.length === 0) return { healthy: true, ...totals(sound), cut: [], findings };
  const backup = backUp(directory);
  const salvage = isGone
    ? rewriteLog(directory, heads)
    : viewReadOnly(file, (db) => rewriteLog(directory, heads, db), 'locked');
  if (!isGone && !salvage.hasEvents) {
    rmSync(backup, { recursive: true });
    // An empty log in its place would hide that there ever were events.
    throw new Error(`nothing of ${file} can be read; nothing was changed; restore it from a backup`);
  }
  complete(directory);
  const cut = [...salvage.known]
    .map(([sessionId, lostUpTo]) => ({ sessionId, intactUpTo: headOf(salvage, sessionId), lostUpTo }))
    .filter(({ intactUpTo, lostUpTo }) => intactUpTo < lostUpTo);
  return { healthy: false, ...totals(salvage), cut, findings: findings.slice(0, maxFindings), backup };
}

function verify(salvage: Salvage, db: DatabaseSync): string[] {
  salvage.follow(db);
  return [...salvage.findings, ...contradictions(salvage), ...structure(db)];
}

function contradictions(salvage: Salvage): string[] {
  const { chains, index, known } = salvage;
  const lost = [...known]
    .filter(([sessionId, seq]) => headOf(salvage, sessionId) < seq)
    .map(
      ([sessionId, seq]) => `session ${sessionId} had seq ${seq}, and ends at ${headOf(salvage, sessionId)}`,
    );
  const unindexed = [...(salvage.hasIndex ? chains : [])]
    .filter(([sessionId, { hash }]) => index.get(sessionId)?.hash !== hash)
    .map(([sessionId]) => `the index is wrong about session ${sessionId}`);
  return [...lost, ...unindexed];
}

function structure(db: DatabaseSync): string[] {
  try {
    // Version 1 has no index of sessions.
    return [...(hasTable(db, 'events') ? [] : ['there is no table of events']), ...structuralDamage(db)];
  } catch (error) {
    rethrowObstacle(error);
    return [String(error)];
  }
}

function headOf({ chains }: Salvage, sessionId: SessionId): number {
  return chains.get(sessionId)?.head ?? 0;
}

function totals({ chains }: Salvage): { sessions: number; events: number } {
  let events = 0;
  for (const { head } of chains.values()) events += head;
  return { sessions: chains.size, events };
}
