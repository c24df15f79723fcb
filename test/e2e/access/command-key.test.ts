import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

function run(folder: TempDirectory, args: readonly string[], environment: Record<string, string> = {}) {
  return new ServiceProcess(args, { cwd: folder.path, environment });
}

async function ended(folder: TempDirectory, args: readonly string[], environment?: Record<string, string>) {
  await using command = run(folder, args, environment);
  return await command.ended;
}

async function createKey(folder: TempDirectory, name: string, role: string): Promise<string> {
  const create = ['keys', 'create', '--name', name, '--role', role, '--data-dir', 'data'];
  return (await ended(folder, create)).stdout.trim();
}

describe('the commands that ask a running service', () => {
  verifies('auth.commands', async () => {
    await using folder = await tempDirectory();
    await writeFile(join(folder.path, 'service.yml'), 'auth: {apiKeys: true}\n');
    const user = await createKey(folder, 'ada', 'user');
    const admin = await createKey(folder, 'root', 'admin');
    const start = ['--config', 'service.yml', '--web-port', '0', '--data-dir', 'data'];
    await using service = run(folder, start);
    const [, port] = await service.stdout(/listening on http:\/\/[\d.]+:(\d+)\n/);
    const url = `http://127.0.0.1:${port}`;
    const keyed = { AGENT_SERVICE_KEY: user };

    await using chat = run(folder, ['chat', '--url', url], keyed);
    chat.stdin.end('hello\n');
    expect((await chat.ended).code).toBe(0);
    const sessions = await ended(folder, ['sessions', '--url', url, '--key', user]);
    expect(JSON.parse(sessions.stdout)).toMatchObject({ sessionId: 'default' });
    expect((await ended(folder, ['replay', 'default', '--url', url], keyed)).code).toBe(0);

    const of = 'default/key:ada/default';
    expect(
      JSON.parse((await ended(folder, ['sessions', '--url', url, '--key', admin])).stdout),
    ).toMatchObject({
      sessionId: of,
    });
    const exported = await ended(folder, ['export', of, '--url', url, '--key', admin]);
    expect(exported.stdout).toContain('"hello"');
    const backup = ['backup', '--to', 'copy', '--data-dir', 'data'];
    expect((await ended(folder, backup)).stderr).toContain('--key or AGENT_SERVICE_KEY');
    expect((await ended(folder, backup, { AGENT_SERVICE_KEY: admin })).stdout).toContain('backed up');

    for (const command of [['chat'], ['sessions'], ['export', 'default'], ['replay', 'default']]) {
      const refused = await ended(folder, [...command, '--url', url, '--key', 'as_wrong']);
      expect([command, refused.code]).toEqual([command, 1]);
      expect(refused.stderr).toMatch(/give a key with --key or AGENT_SERVICE_KEY/);
      expect(refused.stderr).not.toContain('as_wrong');
    }
  });
});
