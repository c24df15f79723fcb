import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../../src/adapters/sqlite/file/load-sqlite.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { migrate } from '../../../src/adapters/sqlite/open/migration.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

/** As version 1 made it. */
const versionOne = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE events (
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  PRAGMA application_id = ${0x61677365};
  PRAGMA user_version = 1;
`;

const rows = [
  ['a', 1, 1000],
  ['b', 1, 1001],
  ['a', 2, 1002],
  ['a', 3, 1003],
] as const;

describe('an event log of version 1', () => {
  let root: TempDirectory;
  let file: string;
  beforeEach(async () => {
    root = await tempDirectory();
    file = join(root.path, 'events.db');
    const db = openFile();
    db.exec(versionOne);
    const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)');
    for (const [session, seq, time] of rows) {
      const data = JSON.stringify({ type: 'turn.started', turnId: `${session}${seq}` });
      insert.run(session, seq, time, 'turn.started', data);
    }
    db.close();
  });
  afterEach(async () => {
    await root[Symbol.asyncDispose]();
  });

  function openFile(path = file) {
    const { DatabaseSync } = loadSqlite();
    return new DatabaseSync(path);
  }

  function versionOf(path: string): unknown {
    const db = openFile(path);
    try {
      return db.prepare('PRAGMA user_version').get()?.user_version;
    } finally {
      db.close();
    }
  }

  it('has all its events and sessions after the first start, goes on, and says what was done', async () => {
    const log = recordingLog();
    const store = await openSqliteEventStore({ directory: root.path, log });
    expect(await store.read('a', 0)).toEqual(
      rows
        .filter(([session]) => session === 'a')
        .map(([sessionId, seq, time]) => {
          const event = { type: 'turn.started', turnId: `a${seq}` };
          return { sessionId, seq, time, event, meta: null };
        }),
    );
    expect(await store.sessions()).toEqual([
      { sessionId: 'a', head: 3, createdAt: 1000, updatedAt: 1003, open: false },
      { sessionId: 'b', head: 1, createdAt: 1001, updatedAt: 1001, open: false },
    ]);
    expect(await store.append('b', 1, [{ type: 'session.reset' }])).toMatchObject([{ seq: 2 }]);
    await store[Symbol.asyncDispose]();
    expect(log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      'event log: migrated from version 1 to the current version',
    ]);

    const second = recordingLog();
    await using again = await openSqliteEventStore({ directory: root.path, log: second });
    expect(await again.read('b', 0)).toHaveLength(2);
    expect(second.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('is still of version 1 after a crash in the middle', async () => {
    const db = openFile();
    db.exec('PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN EXCLUSIVE');
    migrate(db, file);
    const crashed = join(root.path, 'crashed');
    await mkdir(crashed);
    for (const name of ['events.db', 'events.db-wal']) {
      await copyFile(join(root.path, name), join(crashed, name));
    }
    db.exec('ROLLBACK');
    db.close();
    expect((await readFile(join(crashed, 'events.db-wal'))).length).toBeGreaterThan(0);
    expect(versionOf(join(crashed, 'events.db'))).toBe(1);
    await using store = await openSqliteEventStore({ directory: crashed, log: recordingLog() });
    expect(await store.read('a', 0)).toHaveLength(3);
  });

  it('is refused as it is when an event is missing, and repaired up to there', async () => {
    const db = openFile();
    db.exec(`DELETE FROM events WHERE session = 'a' AND seq = 2`);
    db.close();
    const open = () => openSqliteEventStore({ directory: root.path, log: recordingLog() });
    await expect(open()).rejects.toThrow(/session a lost seq 2; nothing was changed; .*agent-service repair/);
    expect(versionOf(file)).toBe(1);
    expect(await repairEventLog(root.path)).toMatchObject({ healthy: false, sessions: 2, events: 2 });
    await using store = await open();
    expect(await store.read('a', 0)).toHaveLength(1);
    expect(await store.read('b', 0)).toHaveLength(1);
  });
});
