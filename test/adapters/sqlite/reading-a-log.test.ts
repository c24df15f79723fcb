import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { viewReadOnly } from '../../../src/adapters/sqlite/file/read-only.ts';
import { repairEventLog } from '../../../src/adapters/sqlite/repair/repair-event-log.ts';
import { runCopy } from '../../../src/cli/copy/run-copy.ts';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
import { SmallDisk, whyNoDisk } from '../../support/log/small-disk.ts';
import { skipAloud } from '../../support/project/skip-aloud.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';

const fixture = fileURLToPath(new URL('../../fixtures/log-0.1.0', import.meta.url));

let root: TempDirectory;
beforeEach(async () => {
  root = await tempDirectory();
  await cp(fixture, root.path, { recursive: true });
});
afterEach(() => root[Symbol.asyncDispose]());

function schemaVersion(directory = root.path): unknown {
  using db = new DatabaseSync(join(directory, 'events.db'), { readOnly: true });
  return db.prepare('PRAGMA user_version').get()?.user_version;
}

/** A log as it is after a clean stop. In that of the fixture, the last appends are in the WAL. */
async function stopped(directory: string): Promise<void> {
  await cp(fixture, directory, { recursive: true });
  await withEventStore({ dataDir: directory }, 'change', (store) => store.probe());
}
const versionOne = fileURLToPath(new URL('../../fixtures/log-v1/data', import.meta.url));

/** The files, what is in them, and when they were written. */
function filesIn(directory: string): unknown[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))
    .map((path) => [path, readFileSync(path, 'base64'), statSync(path).mtimeMs, statSync(path).ino]);
}

const readAll = (directory: string) =>
  withEventStore({ dataDir: directory }, 'read', async (store) => {
    const sessions = await store.sessions();
    const events = await Promise.all(sessions.map(({ sessionId }) => store.read(sessionId, 0)));
    expect(events.map((all) => all.length)).toEqual(sessions.map(({ head }) => head));
    return events.flat().length;
  });

const logs: [string, (directory: string) => Promise<void>][] = [
  ['that a crash has left', (directory) => cp(fixture, directory, { recursive: true })],
  ['of a clean stop', stopped],
  [
    'without high-water marks',
    async (directory) => {
      await stopped(directory);
      rmSync(join(directory, 'events.heads'));
    },
  ],
  ['of version 1', (directory) => cp(versionOne, directory, { recursive: true })],
];

describe.each(logs)('a command that only reads a log %s', (_, make) => {
  it('changes no file and leaves none', async () => {
    const directory = join(root.path, 'log');
    await make(directory);
    const before = filesIn(directory);
    expect(await readAll(directory)).toBeGreaterThan(0);
    expect(await repairEventLog(directory, { dryRun: true })).toMatchObject({ healthy: true });
    expect(filesIn(directory)).toEqual(before);
  });

  it('reads it on a disk that is read-only', async (test) => {
    skipAloud(test, whyNoDisk());
    const disk = await SmallDisk.mount(16_000_000, test);
    const directory = join(disk.path, 'log');
    await make(directory);
    disk.remount('ro');
    expect(await readAll(directory)).toBeGreaterThan(0);
    expect(await repairEventLog(directory, { dryRun: true })).toMatchObject({ healthy: true });
    const opened = withEventStore({ dataDir: directory }, 'change', (store) => store.probe());
    await expect(opened).rejects.toThrow(
      /must be able to read and write .*; change its mode, or choose another/,
    );
  });

  it('fails if somebody writes it where it could not lock it', async (test) => {
    skipAloud(test, whyNoDisk());
    const disk = await SmallDisk.mount(16_000_000, test);
    const directory = join(disk.path, 'log');
    await make(directory);
    disk.remount('ro');
    const read = withEventStore({ dataDir: directory }, 'read', async (store) => {
      await store.sessions();
      disk.remount('rw');
      appendFileSync(join(directory, 'events.db-wal'), 'x');
    });
    await expect(read).rejects.toThrow('was written while it was read');
  });
});

it('a log is read where SQLite can share no memory, and repaired only under a lock', async () => {
  const shareNothing = () => symlinkSync(join(root.path, 'no', 'folder'), join(root.path, 'events.db-shm'));
  const before = filesIn(root.path);
  shareNothing();
  expect(await readAll(root.path)).toBeGreaterThan(0);
  shareNothing();
  expect(await repairEventLog(root.path, { dryRun: true })).toMatchObject({ healthy: true });
  shareNothing();
  await expect(repairEventLog(root.path)).rejects.toThrow('unable to open database file');
  expect(filesIn(root.path)).toEqual(before);
});

describe('a view of a database', () => {
  it('leaves the WAL that a service has begun meanwhile', async () => {
    await stopped(root.path);
    const file = join(root.path, 'events.db');
    const wal = `${file}-wal`;
    expect(existsSync(wal)).toBe(false);
    viewReadOnly(file, () => writeFileSync(wal, 'acknowledged events'));
    expect(readFileSync(wal, 'utf8')).toBe('acknowledged events');
  });
});

describe('a command that only reads the log of an earlier release', () => {
  it('leaves it for that release, with the copy that waits to be fetched', async () => {
    const copy = join(root.path, 'events.backup');
    writeFileSync(copy, 'copy');
    const events = await withEventStore({ dataDir: root.path }, 'read', (store) => store.read('plain', 0));
    expect(events.length).toBeGreaterThan(0);
    expect({ version: schemaVersion(), hasCopy: existsSync(copy) }).toEqual({ version: 2, hasCopy: true });
  });

  it('leaves it also when it copies the log into another folder', async () => {
    const target = join(root.path, 'copy');
    const to = { dataDir: target };
    expect(await runCopy({ from: { dataDir: root.path }, to })).toMatch(
      /^copied \d+ streams with \d+ events;/,
    );
    expect(schemaVersion()).toBe(2);
    expect(schemaVersion(target)).toBe(3);
  });

  it('names the option of a copy whose source is in use', async () => {
    const copying = withEventStore({ dataDir: root.path }, 'change', () =>
      runCopy({ from: { dataDir: root.path }, to: { dataDir: join(root.path, 'copy') } }),
    );
    await expect(copying).rejects.toThrow(`--from: ${root.path} is in use by a service; stop it first`);
  });

  it('says that it is in use, also where it may not read at which address', async () => {
    mkdirSync(join(root.path, 'service.address'));
    const reading = withEventStore({ dataDir: root.path }, 'change', () =>
      withEventStore({ dataDir: root.path }, 'read', async () => undefined),
    );
    await expect(reading).rejects.toThrow(`${root.path} is in use by another agent-service; stop it`);
  });

  it('cannot append to it', async () => {
    const appended = withEventStore({ dataDir: root.path }, 'read', (store) =>
      store.append('new', 0, [{ type: 'session.reset' }]),
    );
    await expect(appended).rejects.toThrow('readonly database');
    expect(schemaVersion()).toBe(2);
  });
});

it('a command that changes the log brings it up to date', async () => {
  await withEventStore({ dataDir: root.path }, 'change', (store) =>
    store.append('new', 0, [{ type: 'session.reset' }]),
  );
  expect(schemaVersion()).toBe(3);
});
