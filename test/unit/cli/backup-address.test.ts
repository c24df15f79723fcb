import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runBackup } from '../../../src/cli/backup/run-backup.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

const DISK_FULL = {
  success: false,
  error: { code: 'INTERNAL_ERROR', message: 'The disk is full.', details: {} },
  timestamp: '2026-11-27T12:00:00.000Z',
};

it('a backup asks the service below the path of its address', async () => {
  await using folder = await tempDirectory();
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(500).end();
  });
  await listenLocally(server);
  const url = `${originOf(server)}/of-acme`;
  await expect(runBackup({ log: { url }, token: undefined, to: join(folder.path, 'to') })).rejects.toThrow();
  await closeAtOnce(server);
  expect(asked).toEqual(['/of-acme/api/backup']);
});

it('a backup waits longer for its copy than fetch does', async () => {
  await using folder = await tempDirectory();
  vi.stubGlobal('fetch', () => Promise.reject(new Error('fetch gave up')));
  onTestFinished(() => void vi.unstubAllGlobals());
  const server = createServer((_, response) => {
    // The service answers when the copy is complete.
    setImmediate(() => response.writeHead(500).end(JSON.stringify(DISK_FULL)));
  });
  await listenLocally(server);
  const log = { url: originOf(server) };
  const backup = runBackup({ log, token: undefined, to: join(folder.path, 'to') });
  await expect(backup).rejects.toThrow('The disk is full.');
  await closeAtOnce(server);
});

it('a backup of a folder refuses the copy of another service, which has got the address', async () => {
  await using folder = await tempDirectory();
  const pathOf = (name: string): string => join(folder.path, name);
  const copy = join(pathOf('other'), 'events.backup');
  const server = createServer((_request, response) => {
    const timestamp = '2026-01-01T00:00:00.000Z';
    response.end(JSON.stringify({ status: 'written', file: copy, bytes: 0, timestamp }));
  });
  await listenLocally(server);
  for (const name of ['data', 'other']) await mkdir(pathOf(name));
  await writeFile(join(pathOf('data'), 'service.address'), `${originOf(server)}\n`);
  await writeFile(copy, '');
  const backup = (dataDir: string) => runBackup({ log: { dataDir }, token: undefined, to: pathOf('to') });
  await expect(backup(pathOf('data'))).rejects.toThrow(
    `the service at ${originOf(server)} has its log in ${pathOf('other')}, and not in ${pathOf('data')}`,
  );
  expect([existsSync(copy), existsSync(pathOf('to'))]).toEqual([true, false]);

  await rm(pathOf('other'), { recursive: true });
  await expect(backup(pathOf('data'))).rejects.toThrow(
    `${copy} is not there: run this command on the machine`,
  );
  await closeAtOnce(server);
});

it('a backup keeps another one out of its folder, and leaves the folder as it was if it fails', async () => {
  await using folder = await tempDirectory();
  const to = join(folder.path, 'to');
  await mkdir(to);
  let others: unknown;
  const backup = () => runBackup({ log: { url: originOf(server) }, token: undefined, to });
  const server = createServer(async (_, response) => {
    others = await backup().catch((error: unknown) => error);
    response.writeHead(500).end(JSON.stringify(DISK_FULL));
  });
  await listenLocally(server);
  await expect(backup()).rejects.toThrow('The disk is full.');
  expect(others).toMatchObject({ message: expect.stringContaining('to is not empty') });
  expect(await readdir(to)).toEqual([]);
  await closeAtOnce(server);
});
