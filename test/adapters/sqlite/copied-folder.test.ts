import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { runCopy } from '../../../src/cli/copy/run-copy.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

it('copy says which log a service uses, and names no option of other commands', async () => {
  await using root = await tempDirectory();
  const [used, other] = [join(root.path, 'used'), join(root.path, 'other')];
  await (await openSqliteEventStore({ directory: other, log: recordingLog() }))[Symbol.asyncDispose]();
  await using _service = await openSqliteEventStore({ directory: used, log: recordingLog() });
  const copied = (from: string, to: string) => runCopy({ from: { dataDir: from }, to: { dataDir: to } });
  await expect(copied(used, other)).rejects.toThrow(
    new Error(`--from: ${used} is in use by a service; stop it first`),
  );
  await expect(copied(other, used)).rejects.toThrow(
    new Error(`--to: ${used} is in use by a service; stop it first`),
  );
});

it('copy refuses the same folder, however it is written', async () => {
  const copied = runCopy({ from: { dataDir: 'log' }, to: { dataDir: './log/' } });
  await expect(copied).rejects.toThrow('--to: expected another place than --from');
});

it('copy names its own option for a folder without a log', async () => {
  await using root = await tempDirectory();
  const nowhere = join(root.path, 'nowhere');
  const copied = runCopy({ from: { dataDir: nowhere }, to: { dataDir: join(root.path, 'to') } });
  await expect(copied).rejects.toThrow(
    new Error(`there is no folder ${nowhere}; choose the folder of an event log with --from`),
  );
});

it('copy names its own option for a folder that cannot be created', async () => {
  await using root = await tempDirectory();
  const [from, file] = [join(root.path, 'from'), join(root.path, 'file')];
  await (await openSqliteEventStore({ directory: from, log: recordingLog() }))[Symbol.asyncDispose]();
  await writeFile(file, '');
  const copied = runCopy({ from: { dataDir: from }, to: { dataDir: join(file, 'to') } });
  await expect(copied).rejects.toThrow(
    /^cannot create .* above .* there is a file .*; choose another folder with --to$/,
  );
});
