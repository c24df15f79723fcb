import { lstat, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPackageVersion } from '../../src/app/package-root.ts';
import { projectRoot } from '../support/project/source-imports.ts';
import { CommandGroup } from '../support/service/command-group.ts';
import {
  type InstalledPackage,
  installPackage,
  run,
  userEnvironment,
} from '../support/service/installed-package.ts';
import { systemdService } from '../support/service/systemd-unit.ts';
import { tempDirectory } from '../support/service/temp-directory.ts';

let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage();
});

afterAll(() => installed[Symbol.asyncDispose]());

/** `npx agent-service` in the folder it was installed in, on a free port. */
async function startService(): Promise<{ url: string } & AsyncDisposable> {
  const args = ['--no-install', 'agent-service', '--web-port', '0', '--data-dir', 'data'];
  const options = { cwd: installed.folder, environment: userEnvironment };
  const service = new CommandGroup('npx', args, options);
  const [, url = ''] = await service.printed(/listening on (\S+)/);
  return { url, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/** The size of all files in a folder, or of one file. */
async function bytesIn(path: string): Promise<number> {
  const entry = await lstat(path);
  if (!entry.isDirectory()) return entry.size;
  const sizes = await Promise.all((await readdir(path)).map((name) => bytesIn(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe('the package, installed in an empty folder', () => {
  it('holds the built service, the page and the agents, and no source or test', () => {
    for (const file of [
      'bin/agent-service.js',
      'dist/server/main.js',
      'dist/server/event-log-worker.js',
      'dist/server/docs.css',
      'dist/server/third-party-licenses.md',
      'dist/server/uws/bin/uws_linux_x64_127.node',
      'dist/src/client/session-client.js',
      'dist/src/client/session-client.d.ts',
      'dist/console/index.html',
      'agents/default.yml',
      'ops/agent-service.service',
      'ops/grafana-dashboard.json',
      'README.md',
      'docs/guide.md',
      'docs/decisions/README.md',
      'docs/console-chat.png',
      'LICENSE',
      'CHANGELOG.md',
    ])
      expect(installed.files).toContain(file);
    expect(
      installed.files.filter((file) => /^(src|test|bench|build|machines)\/|(?<!\.d)\.ts$/.test(file)),
    ).toEqual([]);
  });

  it('installs without a warning, and little besides Node', async () => {
    expect(installed.warnings).toEqual([]);
    const packages = join(installed.folder, 'node_modules');
    const bytes = await Promise.all(
      (await readdir(packages)).map(async (name) => [name, await bytesIn(join(packages, name))] as const),
    );
    const nodes = bytes.filter(([name]) => /^node-(bin-)?(linux|darwin|win)/.test(name));
    expect(nodes).toHaveLength(1);
    const others = bytes.filter((entry) => !nodes.includes(entry));
    expect(others.map(([name]) => name).toSorted()).toEqual([
      '.bin',
      '.package-lock.json',
      'agent-service',
      'zod',
    ]);
    expect(others.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(60_000_000);
  });

  it('runs with npx in an empty folder: a built-in agent, whose data stays in the folder', async () => {
    await using empty = await tempDirectory();
    const args = [
      '--yes',
      '--prefer-offline',
      '--package',
      installed.tarball,
      'agent-service',
      '--web-port',
      '0',
    ];
    await using service = new CommandGroup('npx', args, { cwd: empty.path, environment: userEnvironment });
    const [, url = ''] = await service.printed(/listening on (\S+)/);
    await service.printed(/agent +built in \(scripted offline\).*\n +data +\.agent-service\n/);
    await service.printed(/everything is up: 6 tools/);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await readdir(empty.path)).toEqual(['.agent-service']);
  });

  describe('started with npx', () => {
    let service: Awaited<ReturnType<typeof startService>>;
    // One service for all: none of them changes what another one looks at.
    beforeAll(async () => {
      service = await startService();
    });
    afterAll(() => service[Symbol.asyncDispose]());

    it('runs: the page, the default agent and its tool server', async () => {
      const page = await fetch(service.url, { headers: { Accept: 'text/html' } });
      expect([page.status, page.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/html'),
      ]);
      const answer = await fetch(`${service.url}/api/message-sync`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ message: 'use echo {"message": "packed"}' }),
      });
      expect(await answer.json()).toMatchObject({
        success: true,
        response: expect.stringContaining('Echo: packed'),
      });
    });

    it.each(['/docs', '/docs.css', '/openapi.json', '/asyncapi.json', '/metrics', '/readyz'])(
      'has all that it needs to serve %s',
      async (path) => {
        expect((await fetch(`${service.url}${path}`)).status).toBe(200);
      },
    );

    it('has a client that plain Node imports', async () => {
      const program = `
        import { connect } from 'agent-service/client';
        const session = connect({ url: process.argv[2], session: 'demo' });
        console.log(await session.ask('thanks'));
        session.close();
      `;
      await writeFile(join(installed.folder, 'client.mjs'), program);
      const printed = await run(process.execPath, ['client.mjs', service.url], installed.folder);
      expect(printed).toBe('You are welcome!\n');
    });
  });

  it('starts by the command of its systemd unit, keeps its log in the folder of the unit, and stops', async () => {
    await using service = await systemdService(installed.folder);
    const [, url = ''] = await service.command.printed(/listening on (\S+)/);
    await service.command.printed(/everything is up/);
    expect((await fetch(`${url}/api/sessions`)).status).toBe(401);
    const answer = await fetch(`${url}/api/message-sync`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${service.key}` },
      body: JSON.stringify({ message: 'use echo {"message": "unit"}' }),
    });
    expect(await answer.json()).toMatchObject({ response: expect.stringContaining('Echo: unit') });
    service.command.signal('SIGTERM');
    expect(await service.command.ended).toBe(0);
    expect(await readdir(service.state)).toContain('events.db');
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('has types for its client, module %s and resolution %s', async (module, moduleResolution) => {
    const program = `
      import { connect, type StreamEvent } from 'agent-service/client';
      const session = connect({ url: 'http://127.0.0.1:3001' });
      export const reply: Promise<string> = session.ask('hello');
      export const text = (event: StreamEvent): string => (event.event === 'chunk' ? event.data.content : '');
      // @ts-expect-error the name of a session is a text
      connect({ url: 'http://127.0.0.1:3001', session: 1 });
    `;
    await writeFile(join(installed.folder, 'client.mts'), program);
    const flags = { module, moduleResolution, target: 'es2022', lib: 'es2022,dom', types: '' };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const tsc = join(projectRoot, 'node_modules', '.bin', 'tsc');
    const printed = await run(tsc, ['--noEmit', '--strict', ...args, 'client.mts'], installed.folder);
    expect(printed).toBe('');
  });

  it('says its version, by its own command', async () => {
    const printed = await run('npx', ['--no-install', 'agent-service', '--version'], installed.folder);
    expect(printed).toBe(`${readPackageVersion()}\n`);
  });
});
