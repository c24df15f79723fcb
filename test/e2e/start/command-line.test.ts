import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { SOURCES } from '../../support/project/describe-ways.ts';
import { projectRoot } from '../../support/project/source-imports.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { parseEnvelope } from '../../support/service/error-envelope.ts';
import { isRunning } from '../../support/service/process-life.ts';
import { freePort, SCRIPTED } from '../../support/service/running-service.ts';
import { type Ending, type ProcessOptions, ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { handshake } from '../../support/sockets/raw-http.ts';
import { connectClient } from '../../support/sockets/websocket-client.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { verifies } from '../requirements.ts';

const version = readPackageVersion();
const IN_MEMORY = ['--data-dir', ':memory:'];

/** Runs it until it ends by itself. */
async function run(args: readonly string[], options?: ProcessOptions): Promise<Ending> {
  await using service = new ServiceProcess(args, options);
  return await service.ended;
}

/** Runs it in a folder with this agent file, which is to keep it from starting. @returns the lines it complains in. */
async function refusal(yaml: string, environment: Record<string, string> = {}): Promise<string[]> {
  await using folder = await agentFolder(yaml);
  const { code, stdout, stderr } = await run(['--web-port', '0', '--agent', 'agent.yml'], {
    cwd: folder.path,
    environment,
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^agent-service: [^\n]/);
  expect(stderr).not.toMatch(/\n {4}at /);
  return stderr.trimEnd().split('\n');
}

describe.concurrent('web mode', () => {
  verifies('cli.mode-web', async () => {
    await using folder = await agentFolder(SCRIPTED);
    const options = { cwd: folder.path };
    await using service = await ServiceProcess.listening(['--agent', 'agent.yml'], options);
    const { port, url } = service;
    expect((await service.process.stdout(/^.*\/mcp\n/s))[0].split('\n')).toEqual([
      `agent-service ${version} is listening on ${url}`,
      '  agent      agent.yml (scripted offline)',
      '  data       .agent-service',
      `  console    ${url}/`,
      `  API        ${url}/api/health`,
      `  docs       ${url}/docs`,
      `  WebSocket  ws://127.0.0.1:${port}/`,
      `  MCP        ${url}/mcp`,
      '',
    ]);
    expect(await (await service.fetch('/api/health')).json()).toMatchObject({ status: 'healthy', version });
    const sync = await service.post('/api/message-sync', { message: 'thanks' });
    expect(await sync.json()).toMatchObject({ success: true, response: 'You are welcome!' });
    using socket = await connectClient(`ws://127.0.0.1:${port}/`);
    socket.say('thanks');
    expect((await socket.settled()).at(-1)).toEqual({
      event: 'response',
      data: { content: 'You are welcome!' },
    });
    await using client = await mcpClient(service);
    expect(await client.chat('thanks')).toBe('You are welcome!');
    // The log of events, where the default says.
    expect(existsSync(join(folder.path, '.agent-service'))).toBe(true);
  });
});

describe.concurrent('mcp mode', () => {
  verifies('cli.mode-mcp', async () => {
    await using folder = await agentFolder(SCRIPTED);
    const args = ['--mode', 'mcp', '--agent', 'agent.yml', ...IN_MEMORY];
    await using service = await ServiceProcess.listening(args, { cwd: folder.path });
    const [printed] = await service.process.stdout(/^.*\/mcp\n/s);
    expect(printed).not.toMatch(/console|API|docs|WebSocket/);
    await using client = await mcpClient(service);
    expect(await client.chat('thanks')).toBe('You are welcome!');
    for (const path of ['/healthz', '/api/health']) {
      const response = await service.fetch(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(await response.json()).toMatchObject({ status: 'healthy', agent: { status: 'ready' } });
    }
    const rest = [
      await service.post('/api/message-sync', { message: 'hi' }),
      await service.post('/api/message', { message: 'hi' }),
      await service.post('/api/reset', {}),
      await service.post('/api/connect-server', { name: 'x', config: { type: 'stdio', command: 'true' } }),
      await service.fetch('/api/mcp/servers'),
      await service.fetch('/api/config.yaml'),
      await service.fetch('/'),
    ];
    for (const response of rest) {
      expect([response.url, response.status]).toEqual([response.url, 400]);
      expect(parseEnvelope(await response.text()).code).toBe('INVALID_REQUEST');
    }
    expect(await handshake(service.port)).toMatchObject({ accepted: false, response: { status: 400 } });
  });
});

describe.concurrent('the port', () => {
  verifies('cli.web-port', async () => {
    await using folder = await agentFolder(`${SCRIPTED}server: { port: 1 }\n`);
    const given = await freePort();
    const args = ['--web-port', String(given), '--agent', 'agent.yml', ...IN_MEMORY];
    // A flag wins over the environment, that over the agent file.
    const environment = { AGENT_SERVICE_WEB_PORT: '2', PORT: '3' };
    await using service = new ServiceProcess(args, { cwd: folder.path, environment });
    await service.stdout(new RegExp(`listening on http://127\\.0\\.0\\.1:${given}\n`));
    expect((await fetch(`http://127.0.0.1:${given}/healthz`)).status).toBe(200);
  });

  verifies('cli.web-port', 'so does PORT', async () => {
    await using folder = await agentFolder(`${SCRIPTED}server: { port: 1 }\n`);
    const environment = { PORT: '0', AGENT_SERVICE_AGENT: 'agent.yml' };
    await using service = new ServiceProcess(IN_MEMORY, { cwd: folder.path, environment });
    const [, port] = await service.stdout(/listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
    expect(Number(port)).toBeGreaterThan(1023);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  });

  verifies('cli.port-taken', async () => {
    await using folder = await agentFolder(SCRIPTED);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const args = ['--web-port', String(port), '--agent', 'agent.yml', ...IN_MEMORY];
    const { code, stdout, stderr } = await run(args, { cwd: folder.path });
    server.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `agent-service: cannot listen on 127.0.0.1:${port}: port ${port} is in use; choose another with --web-port ` +
        '(0 takes a free one), or stop what listens there\n',
    );
  });

  verifies(
    'cli.port-taken',
    'also by another of these services, and so does a data folder that one uses',
    async () => {
      await using folder = await agentFolder(SCRIPTED);
      const options = { cwd: folder.path };
      await using first = await ServiceProcess.listening(['--agent', 'agent.yml'], options);
      const args = ['--agent', 'agent.yml', '--web-port', String(first.port), '--data-dir', 'other'];
      const second = await run(args, options);
      expect([second.code, second.stdout]).toEqual([1, '']);
      expect(second.stderr).toContain('in use');
      const third = await run(['--agent', 'agent.yml', '--web-port', '0'], options);
      expect([third.code, third.stdout]).toEqual([1, '']);
      expect(third.stderr).toMatch(/^agent-service: [^\n]*\.agent-service[^\n]*\n$/);
      expect((await first.fetch('/healthz')).status).toBe(200);
    },
  );
});

/** Flags of Node with which a module cannot be loaded. This is known as soon as there is a file in the working directory. */
function unloadable(module: string, file: string): string[] {
  // The module itself waits: a hook that waited would keep all other modules waiting, too.
  const source = `
    import { existsSync } from 'node:fs';
    import { setTimeout as delay } from 'node:timers/promises';
    while (!existsSync('${file}')) await delay(5);
    throw new Error('there is no ${module}');`;
  const hooks = `
    const source = ${JSON.stringify(source)};
    export const load = (url, context, next) =>
      url.endsWith('${module}') ? { format: 'module', source, shortCircuit: true } : next(url, context);`;
  const asUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const registering = `import { register } from 'node:module'; register(${JSON.stringify(asUrl(hooks))});`;
  return ['--import', asUrl(registering)];
}

describe.concurrent('a start that fails', () => {
  verifies('cli.failed-start', async () => {
    // In an agent file, `$$` is a dollar sign.
    const server = {
      type: 'stdio',
      command: 'sh',
      args: ['-c', 'echo $$$$ > new && mv new pid && exec sleep 300'],
    };
    await using folder = await agentFolder(`${SCRIPTED}mcpServers: ${JSON.stringify({ silent: server })}\n`);
    await writeFile(join(folder.path, 'service.yml'), 'agent: agent.yml\nauth: { apiKeys: true }\n');
    const args = ['--config', 'service.yml', '--web-port', '0', ...IN_MEMORY];
    const { code, stderr } = await run(args, {
      cwd: folder.path,
      script: SOURCES,
      nodeFlags: unloadable('audit-trail.ts', 'pid'),
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no audit-trail.ts')]);
    const pid = Number(await readFile(join(folder.path, 'pid'), 'utf8'));
    expect([pid > 1, isRunning(pid)]).toEqual([true, false]);
  });
});

describe.concurrent('the agent file', () => {
  verifies('cli.agent', async () => {
    const yaml =
      'llm:\n  provider: scripted\n  model: offline\n  temprature: 0.5\nlimits:\n  queuedMessages: many\n';
    const lines = await refusal(yaml);
    expect(lines.find((line) => line.includes('temprature'))).toMatch(/agent\.yml:4: .*llm.*did you mean/);
    expect(lines.find((line) => line.includes('queuedMessages'))).toMatch(/agent\.yml:6: .*many/);
  });

  verifies(
    'cli.agent',
    'an unset variable, broken YAML, a missing key of the provider and a missing file too',
    async () => {
      const [unset] = await refusal('llm:\n  provider: openai\n  model: m\n  apiKey: $NO_SUCH_KEY\n');
      expect(unset).toMatch(/agent\.yml:4: llm\.apiKey: .*NO_SUCH_KEY/);
      const [broken] = await refusal('llm: { provider: scripted\n');
      expect(broken).toMatch(/agent\.yml:\d/);
      const [keyless] = await refusal('llm: { provider: openai, model: m }\n');
      expect(keyless).toMatch(/OPENAI_API_KEY|apiKey/);
      const missing = await run(['--agent', 'nowhere/agent.yml', '--web-port', '0']);
      expect([missing.code, missing.stdout]).toEqual([1, '']);
      expect(missing.stderr).toMatch(/^agent-service: nowhere\/agent\.yml[^\n]*no such file[^\n]*\n$/);
    },
  );
});

describe.concurrent('flags', () => {
  verifies('cli.flags', async () => {
    const cases: [args: string[], complaint: RegExp][] = [
      [['--bogus'], /unknown option '--bogus'/],
      [['surplus'], /unknown command 'surplus'; there are init/],
      [['--mode', 'wbe'], /--mode: found "wbe".*web.*mcp/],
      [['--web-port', '80x'], /--web-port: found "80x"/],
      [['--transport', 'stdio'], /--transport.*--mode mcp/],
      [['--host', '203.0.113.7', '--web-port', '0', ...IN_MEMORY], /203\.0\.113\.7/],
    ];
    for (const [args, complaint] of cases) {
      const { code, stdout, stderr } = await run(args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(complaint);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
  });

  verifies('cli.help', async () => {
    const help = await run(['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    for (const flag of ['agent', 'mode', 'web-port', 'host', 'data-dir', 'log-level', 'transport', 'version'])
      expect(help.stdout).toContain(`--${flag}`);
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  for (const where of ['a clone', 'an empty folder'] as const) {
    verifies('cli.help', `its examples work in ${where}`, async () => {
      await using folder = await tempDirectory();
      const cwd = where === 'a clone' ? projectRoot : folder.path;
      const { stdout } = await run(['--help'], { cwd });
      const [, examples = ''] = stdout.split('Examples:');
      const lines = examples.split('\n').filter((line) => line.includes('$ '));
      expect(lines.length).toBeGreaterThan(3);
      const written = new Set<string>();
      for (const line of lines) {
        expect(line).toMatch(/^ {2}\$ (npx agent-service|npm start)/);
        if (line.includes('agent-service init')) written.add('agent.yml');
        const [, file] = /--agent (\S+)/.exec(line) ?? [];
        if (file !== undefined)
          expect({ line, exists: written.has(file) || existsSync(join(cwd, file)) }).toEqual({
            line,
            exists: true,
          });
      }
    });
  }

  verifies('cli.unread', async () => {
    const recording = fileURLToPath(new URL('../../fixtures/log-v1/eventful.jsonl', import.meta.url));
    for (const args of [['--help'], ['replay', '--file', recording]]) {
      await using command = new ServiceProcess(args);
      command.closeStdout();
      expect(await command.ended).toMatchObject({ code: 1, stderr: '' });
    }
  });

  verifies('cli.unread', 'and leaves no files beside the log that it has read', async () => {
    await using folder = await tempDirectory();
    const fixture = fileURLToPath(new URL('../../fixtures/log-0.1.0', import.meta.url));
    await cp(fixture, folder.path, { recursive: true });
    const files = await readdir(folder.path);
    await using command = new ServiceProcess(['sessions', '--data-dir', folder.path]);
    command.closeStdout();
    expect(await command.ended).toMatchObject({ code: 1, stderr: '' });
    expect(await readdir(folder.path)).toEqual(files);
  });

  verifies('cli.bin', async () => {
    const script = 'bin/agent-service.js';
    expect(await run(['--version'], { script })).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
    expect((await run(['--mode', 'no'], { script })).code).toBe(1);
    await using folder = await agentFolder(SCRIPTED);
    const options = { script, cwd: folder.path };
    await using service = await ServiceProcess.listening(['--agent', 'agent.yml', ...IN_MEMORY], options);
    expect(await (await service.fetch('/api/health')).json()).toMatchObject({ status: 'healthy' });
    service.process.kill('SIGTERM');
    expect(await service.process.ended).toMatchObject({ code: 0 });
  });
});
