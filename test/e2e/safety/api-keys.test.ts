import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { openKeyBook } from '../../../src/app/access/open-key-book.ts';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { withEventStore } from '../../../src/cli/transfer/stored-log.ts';
import { parseApiKey } from '../../../src/core/access/api-key.ts';
import type { Identity } from '../../../src/core/access/identity.ts';
import { API_KEYS_STREAM } from '../../../src/core/log/streams.ts';
import { CreateKeyResponse } from '../../../src/wire/api-keys.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { filesWith } from '../../support/service/files-with.ts';
import { RunningService, silentLog } from '../../support/service/running-service.ts';
import { type Ending, ServiceProcess } from '../../support/service/service-process.ts';
import { type TempDirectory, tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

async function run(folder: TempDirectory, command: string, environment = {}): Promise<Ending> {
  await using process = new ServiceProcess(command.split(' '), { cwd: folder.path, environment });
  return await process.ended;
}

/** Runs `keys` so that it works. @returns what it prints, without the last end of line. */
async function keys(folder: TempDirectory, command: string, environment = {}): Promise<string> {
  const { code, stdout, stderr } = await run(folder, `keys ${command}`, environment);
  expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: expect.any(String) });
  expect(stdout).toMatch(/\n$/);
  return stdout.slice(0, -1);
}

/** Who a service on this folder takes the owner of a key for. */
async function identified(folder: TempDirectory, key: string): Promise<Identity> {
  return withEventStore({ dataDir: join(folder.path, 'data') }, 'read', async (store) =>
    (await openKeyBook(store, silentLog)).verify(key),
  );
}

function secretOf(key: string): string {
  const secret = parseApiKey(key)?.secret;
  if (secret === undefined) throw new Error(`${key} is no API key`);
  return secret;
}

const CREATE = 'create --name ci --role user';

describe.concurrent('the commands for API keys', () => {
  verifies('keys.create', 'says which key to revoke if it cannot be printed', async () => {
    await using folder = await tempDirectory();
    const create = `keys ${CREATE} --data-dir data`;
    await using command = new ServiceProcess(create.split(' '), { cwd: folder.path });
    command.closeStdout();
    const { code, stderr } = await command.ended;
    const [{ keyId }] = JSON.parse(`[${await keys(folder, 'list --json --data-dir data')}]`);
    expect(code).toBe(1);
    expect(stderr).toContain(`could not be printed`);
    expect(stderr).toContain(`agent-service keys revoke ${keyId}`);
  });

  verifies('keys.create', 'creates none if standard output is closed or discarded', async () => {
    await using folder = await tempDirectory();
    const command = `"$0" "$1" keys ${CREATE} --data-dir data`;
    for (const output of ['>&-', '>/dev/null']) {
      const args = [
        '-c',
        `${command} ${output}`,
        process.execPath,
        join(findPackageRoot(), 'bin/agent-service.js'),
      ];
      await expect(promisify(execFile)('sh', args, { cwd: folder.path })).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no key was created'),
      });
    }
    expect(await readdir(folder.path)).toEqual([]);
  });

  verifies('keys.create', async () => {
    await using folder = await tempDirectory();
    const { code, stdout, stderr } = await run(
      folder,
      `keys ${CREATE} --role approver --tenant acme --expires 90d --data-dir data`,
    );
    expect(code).toBe(0);
    const key = stdout.trimEnd();
    expect(stdout).toBe(`${key}\n`);
    const { principal, tenant, roles, expiresAt = 0 } = await identified(folder, key);
    expect({ principal, tenant, roles }).toEqual({
      principal: 'key:ci',
      tenant: 'acme',
      roles: ['user', 'approver'],
    });
    expect(Math.abs(expiresAt - Date.now() - 90 * 24 * 60 * 60_000)).toBeLessThan(60_000);

    const secret = secretOf(key);
    const id = key.slice(3, 11);
    expect(stderr).toContain(`created API key ${id} for key:ci of tenant acme`);
    expect(stderr).not.toContain(secret);
    expect(await filesWith(folder.path, secret)).toEqual([]);
    expect(await filesWith(folder.path, id)).not.toEqual([]);

    const modes = await Promise.all(
      ['data', 'data/events.db'].map(async (name) => (await stat(join(folder.path, name))).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o600]);
  });

  verifies('keys.create', 'nor does a service that uses the folder write it', async () => {
    await using folder = await tempDirectory();
    const key = await keys(folder, `${CREATE} --data-dir data`);
    const secret = secretOf(key);
    {
      await using service = await RunningService.start({
        dataDir: join(folder.path, 'data'),
        apiKeys: true,
      });
      await service.post('/api/message-sync', { message: 'thanks' });
      const answer = await service.post('/api/keys', { name: 'second', roles: ['reader'] });
      const second = secretOf(CreateKeyResponse.parse(await answer.json()).key);
      for (const each of [secret, second]) expect(await filesWith(folder.path, each)).toEqual([]);
    }
    expect(await filesWith(folder.path, secret)).toEqual([]);
    expect(await identified(folder, key)).toMatchObject({ principal: 'key:ci', tenant: 'default' });
  });

  verifies('keys.manage', async () => {
    await using folder = await tempDirectory();
    const [first, second] = [
      await keys(folder, `${CREATE} --data-dir data`),
      await keys(folder, `${CREATE} --tenant acme --data-dir data`),
    ];
    const [firstId, secondId] = [first.slice(3, 11), second.slice(3, 11)];
    expect(await keys(folder, `revoke ${firstId} --data-dir data`)).toBe(
      `revoked API key ${firstId} of key:ci`,
    );
    // The whole key, of somebody who has only that.
    expect(await keys(folder, `revoke ${first} --data-dir data`)).toContain(`revoked API key ${firstId}`);
    await expect(identified(folder, first)).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
      details: { reason: 'revoked' },
    });
    const json = await keys(folder, 'list --json --data-dir data');
    expect(json.split('\n').map((line): unknown => JSON.parse(line))).toMatchObject([
      { keyId: firstId, name: 'ci', roles: ['user'], tenant: 'default', status: 'revoked' },
      { keyId: secondId, name: 'ci', roles: ['user'], tenant: 'acme', status: 'active' },
    ]);
    const table = (await keys(folder, 'list --data-dir data')).split('\n');
    expect(table).toHaveLength(3);
    expect(table[2]).toMatch(new RegExp(`^${secondId}  ci +user +acme +active .+ never$`));
    for (const key of [first, second]) expect(json + table.join()).not.toContain(secretOf(key));

    const events = await withEventStore({ dataDir: join(folder.path, 'data') }, 'read', (store) =>
      store.read(API_KEYS_STREAM, 0),
    );
    const local = { kind: 'client', principal: expect.stringMatching(/^local:./) };
    expect(events.map(({ event, meta }) => [event.type, meta?.actor])).toEqual([
      ['api-key.created', local],
      ['api-key.created', local],
      ['api-key.revoked', local],
    ]);
  });

  verifies('keys.refused', async () => {
    await using folder = await tempDirectory();
    const refusals: [command: string, complaint: string][] = [
      ['create --name ci --role usr', '--role: found "usr"; expected one of reader, user,'],
      ['create --name a/b --role user', '--name: found "a/b"; expected 1 to 64 characters'],
      [`${CREATE} --tenant a/b`, '--tenant: found "a/b"; expected 1 to 64 characters'],
      [`${CREATE} --expires 90`, '--expires: found "90"; expected a time such as 12h'],
      ['revoke nobody', 'id: expected the 8 characters of a key'],
      ['list', 'there is no folder'],
      ['revoke nobodys0', 'there is no folder'],
    ];
    for (const [command, complaint] of refusals) {
      const { code, stdout, stderr } = await run(folder, `keys ${command} --data-dir data`);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
      expect(stderr).toContain(`agent-service: ${complaint}`);
    }
    expect(await readdir(folder.path)).toEqual([]);
    const unnamed = await run(folder, `keys ${CREATE} --data-dir :memory:`);
    expect(unnamed).toMatchObject({ code: 1, stderr: expect.stringContaining('expected a folder') });
    await keys(folder, `${CREATE} --data-dir data`);
    const unknown = await run(folder, 'keys revoke nobodys0 --data-dir data');
    expect(unknown).toMatchObject({ code: 1, stderr: 'agent-service: There is no API key nobodys0.\n' });
  });

  verifies('keys.in-use', async () => {
    await using folder = await tempDirectory();
    await using _service = await RunningService.start({ dataDir: join(folder.path, 'data') });
    for (const command of [CREATE, 'list', 'revoke nobodys0']) {
      const { code, stdout, stderr } = await run(folder, `keys ${command} --data-dir data`);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
      expect(stderr).toContain('or ask the service: --url with its address, instead of --data-dir');
    }
  });
});

describe.concurrent('the API keys of a running service', () => {
  verifies('keys.url', async () => {
    await using folder = await tempDirectory();
    await using service = await RunningService.start({ dataDir: join(folder.path, 'data'), apiKeys: true });
    const at = `--url ${service.url}`;
    const environment = { AGENT_SERVICE_KEY: 'test-admin' };
    const key = await keys(folder, `${CREATE} --expires 12h ${at}`, environment);
    const id = key.slice(3, 11);
    expect(secretOf(key)).toHaveLength(32);
    expect(await keys(folder, `list ${at} --key test-admin`)).toMatch(
      new RegExp(`\n${id}  ci +user +default +active`),
    );
    expect(await keys(folder, `revoke ${id} ${at}`, environment)).toBe(`revoked API key ${id} of key:ci`);
    const listed = JSON.parse(await keys(folder, `list --json ${at}`, environment));
    expect(listed).toMatchObject({ keyId: id, status: 'revoked' });

    const refusals: [command: string, complaint: string][] = [
      ['create --name ci --role usr', 'there is no role "usr"'],
      [`${CREATE} --tenant acme`, 'An API key can be created only for your own tenant.'],
      ['revoke nobodys0', 'There is no API key nobodys0.'],
    ];
    for (const [command, complaint] of refusals) {
      const { code, stdout, stderr } = await run(folder, `keys ${command} ${at}`, environment);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
      expect(stderr).toContain(complaint);
    }
  });

  verifies('keys.rest', async () => {
    await using service = await RunningService.start({ apiKeys: true });
    const created = await service.post('/api/keys', { name: 'ci', roles: ['user'], expiresInDays: 90 });
    expect([created.status, created.headers.get('Cache-Control')]).toEqual([200, 'no-store']);
    const { key, keyId, ...rest } = CreateKeyResponse.parse(await created.json());
    expect(parseApiKey(key)?.keyId).toBe(keyId);
    expect(rest).toMatchObject({ status: 'created', name: 'ci', roles: ['user'], tenant: 'default' });
    const list = await (await service.fetch('/api/keys')).text();
    expect(JSON.parse(list)).toMatchObject({ keys: [{ keyId, status: 'active' }] });
    expect(list).not.toContain(secretOf(key));
    const revoked = await service.fetch(`/api/keys/${keyId}`, { method: 'DELETE' });
    expect(await revoked.json()).toMatchObject({ status: 'revoked', keyId });
    const none = await service.fetch('/api/keys/nobodys0', { method: 'DELETE' });
    expect(await errorOf(none, 404)).toMatchObject({ code: 'API_KEY_NOT_FOUND' });
  });

  verifies('keys.off', async () => {
    await using service = await RunningService.start();
    for (const [method, path] of [
      ['GET', '/api/keys'],
      ['POST', '/api/keys'],
      ['DELETE', '/api/keys/nobodys0'],
    ] as const) {
      const answer = await service.fetch(path, { method });
      expect((await errorOf(answer, 400)).message).toBe(`There is nothing at ${method} ${path}.`);
    }
    for (const args of [['keys', 'list'], ['keys', 'create', '--name', 'ci', '--role', 'user'], ['audit']]) {
      await using command = new ServiceProcess([...args, '--url', service.url]);
      expect(await command.ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr:
          'agent-service: this service authenticates nobody: start it with a service file with auth, such as --config service.yml with "auth: {apiKeys: true}"\n',
      });
    }
  });
});
