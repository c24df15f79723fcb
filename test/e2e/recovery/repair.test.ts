import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, viewOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

async function repair(folder: TempDirectory, ...flags: string[]): Promise<Ending> {
  await using process = new ServiceProcess(['repair', '--data-dir', 'data', ...flags], { cwd: folder.path });
  return await process.ended;
}

/** A log whose session `s` was answered, after its message was written. The events of the answer are damaged. */
async function folderWithDamage(): Promise<TempDirectory> {
  const folder = await tempDirectory();
  const dataDir = join(folder.path, 'data');
  {
    const model = new DirectedModel();
    await using service = await RunningService.start({ dataDir, adapters: { model } });
    for (const [index, sessionId] of ['s', 'other'].entries()) {
      await service.post('/api/message', { message: 'thanks', sessionId });
      (await model.call(index)).answer('You are welcome!');
      await eventually(
        () => viewOf(service, sessionId),
        ({ status }) => status === 'idle',
      );
    }
  }
  const db = new DatabaseSync(join(dataDir, 'events.db'));
  db.exec("UPDATE events SET data = '{}' WHERE session = 's' AND seq = 4");
  db.close();
  return folder;
}

describe('the repair of a log', () => {
  verifies('cli.repair', async () => {
    await using folder = await folderWithDamage();
    const dataDir = join(folder.path, 'data');
    const names = await readdir(dataDir);
    const foreseen = await repair(folder, '--dry-run');
    expect(foreseen).toMatchObject({
      code: 0,
      stderr:
        'agent-service: dry run, nothing was changed: at least 2 events of 1 session are lost: all from the first damaged or missing one on; 1 turn without an end would be cancelled: the model would not be called again; the log would have 7 events in 2 sessions\n',
    });
    expect(await readdir(dataDir)).toEqual(names);
    const done = await repair(folder);
    const { backup, ...report } = JSON.parse(done.stdout);
    expect(JSON.parse(foreseen.stdout)).toEqual({ ...report, dryRun: true });
    expect(done.stderr).toMatch(
      /1 turn without an end is cancelled: the model is not called again; the log now has 7 events in 2 sessions; the damaged files are in .*events\.damaged-/,
    );
    expect(await repair(folder)).toMatchObject({
      stderr: 'agent-service: the log is intact (7 events in 2 sessions); there is nothing to repair\n',
    });
  });

  verifies('recovery.repair', async () => {
    await using folder = await folderWithDamage();
    await repair(folder);
    const model = new DirectedModel();
    await using service = await RunningService.start({
      dataDir: join(folder.path, 'data'),
      adapters: { model },
    });
    expect((await eventsOf(service, 's')).at(-1)).toMatchObject({
      event: 'error',
      data: { code: 'TURN_CANCELLED', details: { reason: expect.stringContaining('the log was damaged') } },
      cause: { kind: 'session-repaired' },
      actor: { kind: 'service' },
    });
    expect(await viewOf(service, 's')).toMatchObject({ status: 'idle', turns: { cancelled: 1 } });
    const answer = service.post('/api/message-sync', { message: 'again', sessionId: 's' });
    (await model.call(0)).answer('Here.');
    expect(await (await answer).json()).toMatchObject({ response: 'Here.' });
    expect(model.calls).toHaveLength(1);
    await service.close();
    await using replay = new ServiceProcess(['replay', 's', '--data-dir', 'data'], { cwd: folder.path });
    expect(await replay.ended).toMatchObject({ code: 0 });
  });
});
