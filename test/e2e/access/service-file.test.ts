import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

async function run(folder: TempDirectory, command: string) {
  await using process = new ServiceProcess(command.split(' '), { cwd: folder.path });
  return await process.ended;
}

/** Where it listens, once it does. */
async function urlOf(service: ServiceProcess): Promise<string> {
  const [, port] = await service.stdout(/listening on http:\/\/[\d.]+:(\d+)\n/);
  return `http://127.0.0.1:${port}`;
}

const START = '--web-port 0 --data-dir data';

describe.concurrent('a service file', () => {
  verifies('auth.exposure', async () => {
    await using folder = await tempDirectory();
    const { code, stdout, stderr } = await run(folder, `${START} --host 0.0.0.0`);
    expect([code, stdout]).toEqual([1, '']);
    for (const way of ['--config service.yml', 'auth: {apiKeys: true}', 'listen on 127.0.0.1', '--insecure'])
      expect(stderr).toContain(way);
    await using insecure = new ServiceProcess(`${START} --host 0.0.0.0 --insecure`.split(' '), {
      cwd: folder.path,
    });
    expect((await fetch(`${await urlOf(insecure)}/api/sessions`)).status).toBe(200);
  });

  verifies('auth.exposure', 'with it, they are served who have a key', async () => {
    await using folder = await tempDirectory();
    await writeFile(join(folder.path, 'service.yml'), 'auth: {apiKeys: true}\n');
    const { stdout } = await run(folder, 'keys create --name ci --role user --tenant acme --data-dir data');
    const headers = { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' };
    await using service = new ServiceProcess(`--config service.yml ${START} --host 0.0.0.0`.split(' '), {
      cwd: folder.path,
    });
    const url = await urlOf(service);
    const body = JSON.stringify({ message: 'hello' });
    const said = await fetch(`${url}/api/message-sync`, { method: 'POST', headers, body });
    expect([said.status, (await fetch(`${url}/api/sessions`)).status]).toEqual([200, 401]);
    const listed = await (await fetch(`${url}/api/sessions`, { headers })).json();
    expect(listed).toMatchObject({ sessions: [{ sessionId: 'default' }] });
  });

  verifies('auth.exposure', 'a bad one ends the start with file, line and key', async () => {
    await using folder = await tempDirectory();
    const refusals: [text: string, complaint: string][] = [
      ['auht: {apiKeys: true}', 'service.yml:1: auht: unknown key; did you mean "auth"?'],
      ['auth:\n  apiKeys: maybe', 'service.yml:2:'],
      ['auth:\n  roles: {Admin!: [admin]}', 'service.yml:2:'],
      ['auth: {apiKeys: true}\nagent: none.yml', 'none.yml'],
      ['auth: {}', 'service.yml:1: auth: lets nobody in'],
      [
        'auth: {apiKeys: true, roles: {user: [sessions:read]}}',
        'auth.roles.user: is a role of every service',
      ],
      ['agents: [a.yml, b/a.yml]', 'agents[1]: has the id a of another agent'],
      ['agents: []', 'agents: found a list; expected a list of at least 1 item\n'],
    ];
    for (const [text, complaint] of refusals) {
      await writeFile(join(folder.path, 'service.yml'), `${text}\n`);
      const { code, stderr } = await run(folder, `--config service.yml ${START}`);
      expect([text, code]).toEqual([text, 1]);
      expect(stderr).toContain(complaint);
    }
    expect((await run(folder, `--config missing.yml ${START}`)).stderr).toContain('missing.yml: ');
  });

  verifies('auth.exposure', '`keys create` in a typed folder knows its roles', async () => {
    await using folder = await tempDirectory();
    const auth = 'auth: {apiKeys: true, roles: {auditor: [sessions:read]}}';
    const store = 'store: postgres://127.0.0.1:1/none';
    await writeFile(join(folder.path, 'service.yml'), `${auth}\n${store}\n`);
    const create = 'keys create --name ci --role auditor --data-dir data';
    const refused = await run(folder, create);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('--config service.yml adds the roles of a service file');
    const created = await run(folder, `${create} --config service.yml`);
    expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^as_/)]);
  });
});
