import type { DatabaseSync } from 'node:sqlite';
import { integerOf } from './columns.ts';
import { rethrowObstacle } from './sqlite-errors.ts';

/** "agse", in the header of every event log. */
const applicationId = 0x61677365;
const schemaVersion = 3;

/**
 * The tables keep their rowids on purpose. In order of arrival, a batch of many sessions fills a few pages. Clustered
 * by session, it would write one page for each session, which takes two to three times as long.
 */
export const tables = tablesIn('main');

/** @param schema `temp` for the tables of a log that is only read. They hide those in the file. */
export function tablesIn(schema: 'main' | 'temp'): string {
  return `
  CREATE TABLE ${schema}.events (
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  CREATE TABLE ${schema}.sessions (
    session TEXT NOT NULL PRIMARY KEY,
    head INTEGER NOT NULL,
    hash TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    open INTEGER NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX ${schema}.open_sessions ON sessions (session) WHERE open = 1;
`;
}

/**
 * The titles of sessions. Logs of earlier releases get the table when they are opened. It is no new version of the
 * schema, because a release that does not know the table works without it.
 */
const titlesTable = `titles (session TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL) STRICT, WITHOUT ROWID`;

/**
 * The streams that are being stored or removed in several transactions, see `IncompleteStreams`. Logs get the table as they
 * get that of the titles.
 */
const incompleteTable = `incomplete (stream TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID`;

/** The tables that a log of an earlier release may lack. */
export const laterTables = [titlesTable, incompleteTable]
  .map((table) => `CREATE TABLE IF NOT EXISTS ${table};`)
  .join('\n');

/** Adds the tables that the log lacks for this connection, and changes no file. */
export function addLaterTables(db: DatabaseSync): void {
  for (const table of [titlesTable, incompleteTable]) {
    const [name = ''] = table.split(' ');
    if (db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) === undefined)
      db.exec(`CREATE TEMP TABLE ${table}`);
  }
}

/** Marks the file as an event log of this version. Run it in the transaction that creates the tables. */
export const marks = `
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

interface Marks {
  readonly application: number;
  readonly version: number;
}

/** What a database file contains. */
export type Identity = 'empty' | 'version 1' | 'version 2' | 'current';

/** Whether its rows are chained and its sessions indexed. */
export function isChained(identity: Identity): boolean {
  return identity === 'version 2' || identity === 'current';
}

/** Throws when the file is not an event log, or of a version that this release does not know. */
export function identify(db: DatabaseSync, file: string): Identity {
  const { application, version } = readMarks(db);
  if (application === applicationId && version === schemaVersion) return 'current';
  if (application === applicationId && version === 1) return 'version 1';
  if (application === applicationId && version === 2) return 'version 2';
  requireKnown({ application, version }, file);
  const found = readInteger(db, 'SELECT count(*) FROM sqlite_schema');
  if (application === 0 && version === 0 && found === 0) return 'empty';
  throw notAnEventLog(file);
}

/** Throws when a later release has written the file. */
function requireKnown({ application, version }: Marks, file: string): void {
  if (application !== applicationId || version <= schemaVersion) return;
  throw new Error(
    `${file} was written by a newer agent-service (schema ${version}, this one knows ${schemaVersion}); ` +
      'run that version or choose another data directory',
  );
}

export function notAnEventLog(file: string): Error {
  return new Error(
    `${file} is not an event log of agent-service; move it away or choose another data directory`,
  );
}

/**
 * Throws when the file, which may be damaged, is certainly not an event log, or was written by a later release.
 * @returns what is wrong with its marks.
 */
export function markDamage(db: DatabaseSync, file: string): string[] {
  let found: Marks;
  let isForeign: boolean;
  try {
    found = readMarks(db);
    isForeign = found.application !== applicationId && !looksLikeEventLog(db);
  } catch (error) {
    rethrowObstacle(error);
    return [String(error)];
  }
  requireKnown(found, file);
  if (isForeign) throw notAnEventLog(file);
  const isMarked = found.application === applicationId && found.version > 0;
  return isMarked ? [] : ['the file is not marked as an event log'];
}

/** Whether it has no tables, or those of an event log. The marks of a damaged log may be wrong. */
function looksLikeEventLog(db: DatabaseSync): boolean {
  if (readInteger(db, 'SELECT count(*) FROM sqlite_schema') === 0) return true;
  const found = db.prepare("SELECT name FROM pragma_table_info('events')").all();
  const names = new Set(found.map(({ name }) => name));
  return ['session', 'seq', 'time', 'type', 'data'].every((name) => names.has(name));
}

function readMarks(db: DatabaseSync): Marks {
  return {
    application: readInteger(db, 'PRAGMA application_id'),
    version: readInteger(db, 'PRAGMA user_version'),
  };
}

function readInteger(db: DatabaseSync, sql: string): number {
  const [value] = Object.values(db.prepare(sql).get() ?? {});
  return integerOf(value);
}

/** The findings of SQLite's own integrity check, which includes the indexes. */
export function structuralDamage(db: DatabaseSync): string[] {
  const findings = db.prepare('PRAGMA integrity_check').all().flatMap(Object.values).map(String);
  return findings.filter((finding) => finding !== 'ok');
}
