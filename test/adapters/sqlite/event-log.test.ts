import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headFilePath } from '../../../src/adapters/sqlite/file/data-directory.ts';
import { readHeads } from '../../../src/adapters/sqlite/integrity/head-file.ts';
import { EventLog } from '../../../src/adapters/sqlite/log/event-log.ts';
import { type Database, openDatabase } from '../../../src/adapters/sqlite/open/open-database.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import type { AppendRequest } from '../../../src/stored-log/append-request.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

let root: TempDirectory;
let database: Database;
let log: EventLog;
let notices: string[];

beforeEach(async () => {
  root = await tempDirectory();
  notices = [];
  database = openDatabase(join(root.path, 'data'));
  log = new EventLog(database, (notice) => notices.push(notice));
});

afterEach(async () => {
  log[Symbol.dispose]();
  await root[Symbol.asyncDispose]();
});

describe('the event log, when a batch fails', () => {
  beforeEach(() => void log.append([appendOf('before', 0, 10)]));
  afterEach(() => expect(notices).toEqual([]));

  /** SQLite gives the same error as for a full disk, at the same place. */
  function fillDisk(): void {
    database.db.exec('PRAGMA max_page_count = 20');
  }

  it('stores nothing of it when the disk is full, and says which file and what to do', () => {
    fillDisk();
    const batch = [appendOf('small', 0, 10), appendOf('large', 0, 200_000)];
    expect(() => log.append(batch)).toThrow(
      expect.objectContaining({
        message: `cannot append to ${database.file}: database or disk is full; free some space on its disk`,
        cause: expect.objectContaining({ errcode: 13 }),
      }),
    );
    expect(seqsOf('small')).toEqual([]);
    expect(seqsOf('large')).toEqual([]);
  });

  it('still takes what fits, and everything once there is space again', () => {
    fillDisk();
    const large = appendOf('large', 0, 200_000);
    expect(() => log.append([large])).toThrow(StorageFullError);
    expect(log.append([appendOf('before', 1, 10)]).refused).toEqual([]);
    database.db.exec('PRAGMA max_page_count = 100000');
    expect(log.append([large]).refused).toEqual([]);
    expect(seqsOf('before')).toEqual([1, 2]);
    expect(seqsOf('large')).toEqual([1]);
  });

  it('rolls back where SQLite leaves the transaction open, and goes on', () => {
    database.db.exec(`
      CREATE TEMP TRIGGER curse BEFORE INSERT ON events WHEN NEW.session = 'cursed'
      BEGIN SELECT RAISE(ABORT, 'cursed'); END
    `);
    expect(() => log.append([appendOf('fine', 0, 10), appendOf('cursed', 0, 10)])).toThrow('cursed');
    expect(seqsOf('fine')).toEqual([]);
    expect(log.append([appendOf('fine', 0, 10)]).refused).toEqual([]);
    expect(seqsOf('fine')).toEqual([1]);
  });

  it('still knows how far a session must reach that could not be erased', async () => {
    log.append([appendOf('long', 0, 10)]);
    database.db.exec(`
      CREATE TEMP TRIGGER curse BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'cursed'); END
    `);
    await expect(log.erase({ type: 'erase', sessionIds: ['before', 'none'] })).rejects.toThrow('cursed');
    database.db.exec('DROP TRIGGER curse');
    expect(seqsOf('before')).toEqual([1]);
    expect(readHeads(join(root.path, 'data'))?.heads).toEqual(
      new Map([
        ['before', 1],
        ['long', 1],
        ['none', 0],
      ]),
    );
  });

  function seqsOf(sessionId: string): unknown[] {
    const { rows } = log.read({ type: 'read', sessionId, afterSeq: 0, maxRows: 100 });
    return rows.map((row) => Object(row).seq);
  }
});

describe('the event log, when a session is missing in its index', () => {
  it('refuses to begin the session anew, as damage, and stores the rest of the batch', () => {
    database.db.exec("INSERT INTO events VALUES ('lost', 2, 0, 'x', '{}', 'h')");
    const { refused } = log.append([appendOf('lost', 0, 1), appendOf('fine', 0, 1)]);
    expect(refused).toEqual([
      {
        index: 0,
        error: expect.objectContaining({ message: expect.stringContaining('session lost, seq 1') }),
      },
    ]);
    expect(log.append([appendOf('fine', 1, 1)]).refused).toEqual([]);
  });
});

describe('the event log, at length', () => {
  const bytesOf = (suffix: string) => statSync(`${database.file}${suffix}`).size;
  const marks = () =>
    readFileSync(headFilePath(join(root.path, 'data')), 'latin1')
      .trim()
      .split('\n');

  it('knows where each of many sessions ends, whether or not it has just been appended to', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `s${index}`);
    for (const seq of [0, 1]) {
      expect(log.append(ids.map((id) => appendOf(id, seq, 1))).refused).toEqual([]);
    }
    const stale = ['s0', 's9999'].map((id) => appendOf(id, 1, 1));
    expect(log.append(stale).refused).toEqual([
      { index: 0, actual: 2 },
      { index: 1, actual: 2 },
    ]);
  });

  it('moves a long WAL into its file when it is told to, and no short one', () => {
    log.append([appendOf('s', 0, 100_000)]);
    const before = bytesOf('');
    log.checkpoint(1_000);
    expect(bytesOf('')).toBe(before);
    log.checkpoint(10);
    expect(bytesOf('')).toBeGreaterThan(before + 50_000);
    const wal = bytesOf('-wal');
    log.append([appendOf('s', 1, 1)]);
    expect(bytesOf('-wal')).toBe(wal);
  });

  it('keeps the marks of a WAL that was moved until a commit has begun it anew', () => {
    log.append([appendOf('s', 0, 100_000)]);
    log.checkpoint(10);
    expect(marks()).toHaveLength(1);
    log.append([appendOf('other', 0, 1)]);
    expect(marks()).toEqual([expect.stringMatching(/ 1 other$/)]);
    log.append([appendOf('other', 1, 1)]);
    expect(marks()).toHaveLength(2);
  });

  it('goes on when the WAL cannot be moved, and says so once', () => {
    log.append([appendOf('s', 0, 100_000)]);
    database.db.exec('BEGIN IMMEDIATE; CREATE TABLE other (x)');
    log.checkpoint(10);
    log.checkpoint(10);
    database.db.exec('ROLLBACK');
    expect(notices).toEqual([expect.stringContaining('cannot move the WAL into the database')]);
    log.checkpoint(10);
    expect(log.append([appendOf('s', 1, 1)]).refused).toEqual([]);
    expect(marks()).toHaveLength(1);
  });
});

function appendOf(sessionId: string, expectedSeq: number, characters: number): AppendRequest {
  const data = JSON.stringify({ type: 'turn.completed', turnId: 't', content: 'x'.repeat(characters) });
  return { sessionId, expectedSeq, types: ['turn.completed'], data: [data] };
}
