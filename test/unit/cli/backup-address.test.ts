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
