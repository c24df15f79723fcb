import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf } from '../../support/sessions/session-api.ts';
import { verifies } from '../requirements.ts';

async function backUp(folder: TempDirectory, service: { url: string }, to: string): Promise<Ending> {
  const args = ['backup', '--url', service.url, '--to', to];
  await using process = new ServiceProcess(args, { cwd: folder.path });
  return await process.ended;
}

const copiesIn = async (folder: TempDirectory): Promise<string[]> =>
  (await readdir(dataIn(folder))).filter((name) => name.startsWith('events.backup'));

const dataIn = (folder: TempDirectory): string => join(folder.path, 'data');

describe.concurrent('a backup of a running service', () => {
  verifies('cli.backup', async () => {
    await using folder = await tempDirectory();
    const yaml = `${SCRIPTED}limits: { requestsPerMinute: false }\n`;
    await using service = await RunningService.start({ dataDir: dataIn(folder), yaml });
    for (const sessionId of ['a', 'b'])
      await service.post('/api/message-sync', { message: 'thanks', sessionId });
    const kept = await eventsOf(service, 'a');
    let isDone = false;
    const talk = (async () => {
      for (let turn = 0; !isDone; turn += 1)
        await service.post('/api/message-sync', { message: 'thanks', sessionId: `t${turn % 50}` });
    })();
    const { code, stdout, stderr } = await backUp(folder, service, 'copy');
    isDone = true;
    await talk;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^backed up \d+ sessions and \d+ events \(\d+ bytes\) of http:.* to .*copy\nevery event was read back/,
    );
    expect(stdout).toContain('not copied: secret.key');
    expect(await copiesIn(folder)).toEqual([]);
    const files = await readdir(join(folder.path, 'copy'));
    expect(files).toEqual(expect.arrayContaining(['events.db', 'events.heads']));
    for (const file of files) expect((await stat(join(folder.path, 'copy', file))).mode & 0o077).toBe(0);

    await using restored = await RunningService.start({ dataDir: join(folder.path, 'copy') });
    expect(await eventsOf(restored, 'a')).toEqual(kept);
    const next = await restored.post('/api/message-sync', { message: 'thanks', sessionId: 'a' });
    expect(await next.json()).toMatchObject({ response: 'You are welcome!' });
  });

  verifies('cli.backup', 'finds the service by its folder, whatever else runs on the machine', async () => {
    await using folder = await tempDirectory();
    await using other = await ServiceProcess.listening(['--data-dir', 'other'], { cwd: folder.path });
    await using mine = await ServiceProcess.listening(['--data-dir', 'data'], { cwd: folder.path });
    await mine.post('/api/message-sync', { message: 'thanks', sessionId: 'mine' });
    await other.post('/api/message-sync', { message: 'thanks', sessionId: 'other' });
    await using command = new ServiceProcess(['backup', '--to', 'copy', '--data-dir', 'data'], {
      cwd: folder.path,
    });
    const { code, stdout } = await command.ended;
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(mine.url) });
    await using restored = await RunningService.start({ dataDir: join(folder.path, 'copy') });
    const listed = await (await restored.fetch('/api/sessions')).json();
    expect(listed).toMatchObject({ sessions: [{ sessionId: 'mine' }] });
  });

  verifies('cli.backup', 'finds no address of a service that has stopped', async () => {
    await using folder = await tempDirectory();
    const address = join(dataIn(folder), 'service.address');
    await using service = await ServiceProcess.listening(['--data-dir', 'data'], { cwd: folder.path });
    expect(await readFile(address, 'utf8')).toBe(`${service.url}\n`);
    service.process.kill('SIGTERM');
    expect(await service.process.ended).toMatchObject({ code: 0 });
    expect(existsSync(address)).toBe(false);
  });

  verifies('cli.backup', 'refuses a folder that is not empty, and says what is wrong otherwise', async () => {
    await using folder = await tempDirectory();
    await using service = await RunningService.start({ dataDir: dataIn(folder) });
    await mkdir(join(folder.path, 'full'));
    await writeFile(join(folder.path, 'full', 'mine'), '');
    const refused = await backUp(folder, service, 'full');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^agent-service: --to: .*full is not empty; choose a new or empty folder\n$/,
    );

    const inFile = await backUp(folder, service, 'full/mine/in');
    expect(inFile.stderr).toMatch(/^agent-service: --to: .*full\/mine\/in cannot be used: /);
    await symlink('unmounted', join(folder.path, 'backups'));
    const unmounted = await backUp(folder, service, 'backups/today');
    expect(unmounted.stderr).toMatch(
      /^agent-service: --to: .*backups is a link that leads nowhere; choose another folder\n$/,
    );
    expect(await copiesIn(folder)).toEqual([]);

    await using inMemory = await RunningService.start();
    expect((await backUp(folder, inMemory, 'none')).stderr).toContain('the log of the service is in no file');
    const nowhere = await new ServiceProcess(['backup', '--to', 'none', '--data-dir', 'empty'], {
      cwd: folder.path,
    }).ended;
    expect(nowhere.stderr).toMatch(/no service has noted its address in .*empty; choose its folder/);
    const away = await backUp(folder, { url: 'http://127.0.0.1:1' }, 'none');
    expect(away.stderr).toMatch(/no service answers at http:\/\/127\.0\.0\.1:1 .*choose another with --url/);
    expect(await readdir(folder.path)).toEqual(expect.not.arrayContaining(['none']));
  });
});
