import type { DatabaseSync } from 'node:sqlite';
import { integerOf } from './columns.ts';

/** "agse", in the header of every file of ours. */
const applicationId = 0x61677365;
const schemaVersion = 2;

/**
 * The tables keep their rowids on purpose. Clustered by session, a batch of many sessions writes one page
 * for each of them; in order of arrival it fills a few pages, which is two to three times as fast.
 */
export const tables = `
  CREATE TABLE events (
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  CREATE TABLE sessions (
    session TEXT NOT NULL PRIMARY KEY,
    head INTEGER NOT NULL,
    hash TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    open INTEGER NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX open_sessions ON sessions (session) WHERE open = 1;
`;

/** Marks the file as an event log of this version; part of the transaction that makes it one. */
export const marks = `
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`;

/** What a file is to us. */
export type Identity = 'empty' | 'version 1' | 'current';

/** Throws when the file is not ours, or of a version that this one does not know. */
export function identify(db: DatabaseSync, file: string): Identity {
  const application = readInteger(db, 'PRAGMA application_id');
  const version = readInteger(db, 'PRAGMA user_version');
  if (application === applicationId && version === schemaVersion) return 'current';
  if (application === applicationId && version === 1) return 'version 1';
  if (application === applicationId && version > schemaVersion) {
    throw new Error(
      `${file} was written by a newer agent-service (schema ${version}, this one knows ${schemaVersion}); ` +
        'run that version or choose another data directory',
    );
  }
  const found = readInteger(db, 'SELECT count(*) FROM sqlite_schema');
  if (application === 0 && version === 0 && found === 0) return 'empty';
  throw notAnEventLog(file);
}

export function notAnEventLog(file: string): Error {
  return new Error(
    `${file} is not an event log of agent-service; move it away or choose another data directory`,
  );
}

function readInteger(db: DatabaseSync, sql: string): number {
  const [value] = Object.values(db.prepare(sql).get() ?? {});
  return integerOf(value);
}

/** What SQLite itself finds wrong with the structure of a file, its indexes included. */
export function structuralDamage(db: DatabaseSync): string[] {
  const findings = db.prepare('PRAGMA integrity_check').all().flatMap(Object.values).map(String);
  return findings.filter((finding) => finding !== 'ok');
}
