import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBackup } from '../../../src/cli/backup/run-backup.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

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
