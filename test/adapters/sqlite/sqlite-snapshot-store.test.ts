import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../../src/adapters/sqlite/file/load-sqlite.ts';
import { sqliteSnapshotStore } from '../../../src/adapters/sqlite/snapshots/sqlite-snapshot-store.ts';
import { oneByOne } from '../../conformance/snapshot-store.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const parts = ['{}', 'unmistakable'.repeat(2000), 'end'];

describe('the SQLite snapshot store', () => {
  let root: TempDirectory;
  let file: string;
  beforeEach(async () => {
    root = await tempDirectory();
    file = join(root.path, 'snapshots.db');
    const store = open();
    await store.save('s', 7, oneByOne(...parts));
    await store[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await root[Symbol.asyncDispose]();
  });

  function open(log = recordingLog()) {
    return sqliteSnapshotStore({ directory: root.path, log });
  }

  it('has its snapshots again when it is opened again, in a file for its owner alone', async () => {
    await using store = open();
    expect(await store.load('s')).toEqual({ seq: 7, parts });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('begins anew without a word when its file was deleted', async () => {
    await rm(file);
    const log = recordingLog();
    await using store = open(log);
    expect(await store.load('s')).toBeUndefined();
    expect(log.lines).toEqual([]);
  });

  it.each([
    ['is no database', (path: string) => writeFile(path, 'x'.repeat(9000))],
    ['is cut off', (path: string) => truncate(path, 5000)],
    ['has one bit of a part flipped', flipPart],
    ['lost a part', dropPart],
  ])('throws a file away that %s, says so, and goes on', async (_, harm) => {
    await harm(file);
    const log = recordingLog();
    await using store = open(log);
    expect(await store.load('s')).toBeUndefined();
    await store.save('s', 8, oneByOne('new'));
    expect(await store.load('s')).toEqual({ seq: 8, parts: ['new'] });
    expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
  });

  it('does nothing to the disk before it is used', async () => {
    await rm(file);
    const store = open();
    await store[Symbol.asyncDispose]();
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('leaves no bytes of what it erased', async () => {
    expect(await readFile(file, 'latin1')).toContain('unmistakable');
    await using store = open();
    await store.erase('s');
    expect(await readFile(file, 'latin1')).not.toContain('unmistakable');
  });

  it('refuses a file that is in use, and does not delete it', async () => {
    await using store = open();
    await store.save('s', 9, oneByOne('mine'));
    await using second = open();
    await expect(second.load('s')).rejects.toThrow('in use by another agent-service');
    expect(await store.load('s')).toEqual({ seq: 9, parts: ['mine'] });
    expect((await stat(file)).size).toBeGreaterThan(0);
  });
});

async function flipPart(path: string): Promise<void> {
  const bytes = await readFile(path);
  const position = bytes.indexOf('unmistakable');
  expect(position).toBeGreaterThan(0);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

async function dropPart(path: string): Promise<void> {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(path);
  db.exec('DELETE FROM parts WHERE part = 2');
  db.close();
}
