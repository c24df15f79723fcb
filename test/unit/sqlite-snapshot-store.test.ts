import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteSnapshotStore } from '../../src/adapters/sqlite/sqlite-snapshot-store.ts';
import { recordingLog } from '../support/recording-log.ts';
import { type TempDirectory, tempDirectory } from '../support/temp-directory.ts';

const state = { text: 'unmistakable'.repeat(2000) };

describe('the SQLite snapshot store', () => {
  let root: TempDirectory;
  let file: string;
  beforeEach(async () => {
    root = await tempDirectory();
    file = join(root.path, 'snapshots.db');
    const store = await open();
    await store.save('s', 7, state);
    await store[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    await root[Symbol.asyncDispose]();
  });

  function open(log = recordingLog()) {
    return openSqliteSnapshotStore({ directory: root.path, log });
  }

  it('has its snapshots again when it is opened again, in a file for its owner alone', async () => {
    await using store = await open();
    expect(await store.load('s')).toEqual({ seq: 7, state });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('begins anew without a word when its file was deleted', async () => {
    await rm(file);
    const log = recordingLog();
    await using store = await open(log);
    expect(await store.load('s')).toBeUndefined();
    expect(log.lines).toEqual([]);
  });

  it.each([
    ['is no database', (path: string) => writeFile(path, 'x'.repeat(9000))],
    ['is cut off', (path: string) => truncate(path, 5000)],
    ['has one bit of a state flipped', flipState],
  ])('throws a file away that %s, says so, and goes on', async (_, harm) => {
    await harm(file);
    const log = recordingLog();
    await using store = await open(log);
    expect(await store.load('s')).toBeUndefined();
    await store.save('s', 8, 'new');
    expect(await store.load('s')).toEqual({ seq: 8, state: 'new' });
    expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
  });

  it('leaves no bytes of what it erased', async () => {
    expect(await readFile(file, 'latin1')).toContain('unmistakable');
    await using store = await open();
    await store.erase('s');
    expect(await readFile(file, 'latin1')).not.toContain('unmistakable');
  });

  it('refuses a file that is in use, and does not delete it', async () => {
    await using store = await open();
    await store.save('s', 9, 'mine');
    await expect(open()).rejects.toThrow('in use by another agent-service');
    expect(await store.load('s')).toEqual({ seq: 9, state: 'mine' });
    expect((await stat(file)).size).toBeGreaterThan(0);
  });
});

async function flipState(path: string): Promise<void> {
  const bytes = await readFile(path);
  const position = bytes.indexOf('unmistakable');
  expect(position).toBeGreaterThan(0);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  await writeFile(path, bytes);
}
