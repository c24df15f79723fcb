import { existsSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCopy } from '../../../src/cli/copy/run-copy.ts';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
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
