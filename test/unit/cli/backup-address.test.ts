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
