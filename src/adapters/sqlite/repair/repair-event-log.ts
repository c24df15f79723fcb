import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { holdsConversation } from '../../../core/log/streams.ts';
import { isAbsent, logFile, repairedFile, requireEventLog, requireUsable } from '../file/data-directory.ts';
import { requireUnused, type ViewMode, viewReadOnly } from '../file/read-only.ts';
import { markDamage, structuralDamage } from '../file/schema.ts';
import { explainSqliteError, isBusy, rethrowObstacle } from '../file/sqlite-errors.ts';
import { readHeads } from '../integrity/head-file.ts';
import type { EndedTurn } from './cut-turns.ts';
import { hasTable } from './readable-rows.ts';
import { withRepairLock } from './repair-lock.ts';
import { backUp, complete, createRepairing, discardRepairing, putInPlace } from './repaired-file.ts';
import { type CutSession, type LogToRewrite, type RewrittenLog, rewriteLog } from './rewrite-log.ts';
import { Salvage } from './salvage.ts';

export type { CutSession, EndedTurn };

export interface RepairReport {
  /** True when there was nothing to repair, and nothing was changed. */
  readonly healthy: boolean;
  /** Sessions in the log after the repair, of all agents. The streams of the service itself are not counted. */
  readonly sessions: number;
  /** Events in the log after the repair, of all streams. */
  readonly events: number;
  readonly cut: readonly CutSession[];
  /** Turns of cut sessions whose end is lost. They are ended as cancelled, and the model is not called again. */
  readonly endedTurns: readonly EndedTurn[];
  /** Descriptions of the first few problems found. */
  readonly findings: readonly string[];
  /** The folder with copies of the damaged files. */
  readonly backup?: string;
  /** True when an earlier repair was interrupted, and this one has put its log in place. */
  readonly finishedEarlier?: boolean;
  /** True when this is what a repair would do, and nothing was changed. */
  readonly dryRun?: boolean;
}

export interface RepairOptions {
  /** Whether to change nothing. */
  readonly dryRun?: boolean;
}

const maxFindings = 20;

/**
 * Verifies every event of the log in a data directory. If something is wrong, it copies the damaged files into a folder
 * beside the log and writes the log anew: each session up to the last event that is linked to all events before it, and
 * without open turns if it was cut. The next repair finishes one that was interrupted.
 */
export async function repairEventLog(
  dataDirectory: string,
  { dryRun = false }: RepairOptions = {},
): Promise<RepairReport> {
  const directory = resolve(dataDirectory);
  const file = logFile(directory);
  if (dryRun && existsSync(repairedFile(directory)))
    return { ...foreseeFinish(directory), finishedEarlier: true, dryRun };
  try {
    requireEventLog(directory);
    requireUsable(directory, dryRun ? 'read' : 'write');
    const report = dryRun
      ? repair(directory, true)
      : withRepairLock(directory, () => repairAndReplace(directory));
    return { ...report, ...(dryRun && { dryRun }) };
  } catch (error) {
    if (isBusy(error)) throw new Error(`${directory} is in use; stop the service first`, { cause: error });
    throw explainSqliteError(error, file, 'repair');
  }
}

/** Another repair may have ended before this one had the lock, so it looks for what that one has left. */
function repairAndReplace(directory: string): RepairReport {
  const isInterrupted = existsSync(repairedFile(directory));
  if (isInterrupted) finish(directory);
  const report = repair(directory, false);
  if (!report.healthy) putInPlace(directory);
  return { ...report, ...(isInterrupted && { finishedEarlier: true }) };
}

/** Puts the log in place that an interrupted repair has written completely. */
function finish(directory: string): void {
  const file = logFile(directory);
  if (!isAbsent(file)) requireUnused(file);
  putInPlace(directory);
}

/** The log that an interrupted repair has written completely. */
function foreseeFinish(directory: string): RepairReport {
  const salvage = new Salvage(new Map());
  const findings = viewReadOnly(repairedFile(directory), (db) => verify(salvage, db));
  return { healthy: findings.length === 0, ...totals(salvage), cut: [], endedTurns: [], findings };
}

function repair(directory: string, dryRun: boolean): RepairReport {
  const file = logFile(directory);
  const heads = readHeads(directory)?.heads ?? new Map();
  const isGone = isAbsent(file);
  const sound = new Salvage(heads);
  // Two views, each with a lock: copying the file closes a descriptor, which drops all POSIX locks on it.
  const findings = isGone
    ? [`${file} is missing or empty`]
    : viewReadOnly(file, (db) => [...markDamage(db, file), ...verify(sound, db)], modeFor(dryRun));
  if (findings.length === 0) return { healthy: true, ...totals(sound), cut: [], endedTurns: [], findings };
  const backup = dryRun ? null : backUp(directory);
  const { salvage, cut, endedTurns } = rewriteOrDiscard({ directory, heads }, backup);
  return {
    healthy: false,
    ...totals(salvage),
    cut,
    endedTurns,
    findings: findings.slice(0, maxFindings),
    ...(backup !== null && { backup }),
  };
}

/** A dry run changes nothing, so it needs no lock. */
function modeFor(dryRun: boolean): ViewMode {
  return dryRun ? 'locked if possible' : 'locked';
}

/** @param backup null for a dry run. Removed if the log cannot be rewritten. */
function rewriteOrDiscard(log: Omit<LogToRewrite, 'target'>, backup: string | null): RewrittenLog {
  const { directory } = log;
  const file = logFile(directory);
  try {
    const target = backup === null ? '' : createRepairing(directory);
    if (isAbsent(file)) return rewriteWhole({ ...log, target });
    return viewReadOnly(file, (db) => rewriteWhole({ ...log, target }, db), modeFor(backup === null));
  } catch (error) {
    if (backup !== null) discardRepairing(directory, backup);
    throw error;
  }
}

/** Completes the new log before the caller unlocks the old one, so that no service starts with the old one in between. */
function rewriteWhole(log: LogToRewrite, damaged?: DatabaseSync): RewrittenLog {
  const rewritten = rewriteLog(log, damaged);
  if (damaged !== undefined && !rewritten.salvage.hasEvents) {
    const file = logFile(log.directory);
    // An empty log in its place would hide that there ever were events.
    throw new Error(`nothing of ${file} can be read; nothing was changed; restore it from a backup`);
  }
  if (log.target !== '') complete(log.directory);
  return rewritten;
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
  return { sessions: [...chains.keys()].filter(holdsConversation).length, events };
}
