import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { SERVER_SECRET_STREAMS } from '../../../src/core/log/streams.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf, Timestamp } from '../../support/service/error-envelope.ts';
import { filesWith } from '../../support/service/files-with.ts';
import { isRunning, processEnd } from '../../support/service/process-life.ts';
import { freePort, RunningService, silentLog } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { sseServer, streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { oddServer, scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { execute, listServers, serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const isTimestamp = expect.toSatisfy((value) => Timestamp.safeParse(value).success);

/** Polling needs more than 100 requests a minute. */
function start(mcpServers: object = {}, environment: Record<string, string> = {}): Promise<RunningService> {
  const llm = { provider: 'scripted', model: 'offline' };
  const yaml = JSON.stringify({ llm, mcpServers, limits: { requestsPerMinute: false } });
  return RunningService.start({ yaml, environment });
}

describe('GET /api/mcp/servers', () => {
  verifies('servers.list', async () => {
    const description = 'for tests';
    await using service = await start({
      good: scriptableServer({ description }),
      bad: { type: 'stdio', command: 'no-such-command-anywhere' },
    });
    const read = async () => {
      const response = await service.fetch('/api/mcp/servers');
      return { status: response.status, body: await response.json() };
    };
    // In one answer: a server that failed is tried again a moment later.
    const { status, body } = await eventually(read, (answer) =>
      /"connected".*"error"/.test(JSON.stringify(answer)),
    );
    expect(status).toBe(200);
    expect(body).toEqual({
      servers: [
        { id: 'good', name: 'good', status: 'connected', type: 'stdio', description },
        {
          id: 'bad',
          name: 'bad',
          status: 'error',
          type: 'stdio',
          error: expect.stringContaining('no-such-command-anywhere'),
        },
      ],
      timestamp: isTimestamp,
    });
  });

  verifies('servers.list', 'an agent without servers has an empty list', async () => {
    await using service = await start();
    expect(await listServers(service)).toEqual([]);
  });

  verifies('servers.parallel', async () => {
    const names = ['one', 'two', 'three'];
    // Answers nobody before all have asked: who connects one after the other waits for ever.
    const waiting: ServerResponse[] = [];
    const server = createServer((_req, res) => {
      if (waiting.length < names.length) waiting.push(res);
      else res.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const config = { type: 'http', baseUrl: `http://127.0.0.1:${port}/mcp` };
    try {
      await using service = await start(Object.fromEntries(names.map((name) => [name, config])));
      expect((await service.fetch('/api/health')).status).toBe(200);
      await eventually(
        async () => waiting.length,
        (count) => count === names.length,
      );
      const statuses = (await listServers(service)).map(({ name, status }) => [name, status]);
      expect(statuses).toEqual(names.map((name) => [name, 'connecting']));
      for (const res of waiting) res.writeHead(401).end('not you');
      for (const name of names) expect((await serverWith(service, name, 'error')).error).toContain('401');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('POST /api/connect-server', () => {
  verifies('servers.connect', async () => {
    await using service = await start();
    const config = { ...scriptableServer(), cwd: null, timeout: null, env: { TEXT: String.raw`\u0000` } };
    const response = await service.post('/api/connect-server', { name: 'late', config });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'connected',
      name: 'late',
      server: { id: 'late', name: 'late', status: 'connected', type: 'stdio' },
      timestamp: isTimestamp,
    });
    expect(await toolText(service, 'late', 'echo', { message: 'at once' })).toBe('at once');
    const reply = await service.post('/api/message-sync', {
      message: 'use echo {"message": "by the model"}',
    });
    expect(await reply.json()).toMatchObject({ response: expect.stringContaining('by the model') });
  });

  verifies('servers.connect-http', async () => {
    await using current = await streamableServer();
    await using older = await sseServer();
    await using service = await start();
    for (const [name, { url }] of Object.entries({ current, older })) {
      const config = { type: 'http', baseUrl: url, headers: { 'x-team': 'blue' } };
      const response = await service.post('/api/connect-server', { name, config });
      expect(await response.json()).toMatchObject({ status: 'connected', server: { name, type: 'http' } });
      expect(await toolText(service, name, 'echo', { message: 'hello' })).toBe('hello');
    }
    expect(current.requests.every(({ headers }) => headers['x-team'] === 'blue')).toBe(true);
  });

  const incomplete: [unknown, string][] = [
    [{}, 'name'],
    [{ config: { type: 'stdio', command: 'x' } }, 'name'],
    [{ name: 'a' }, 'config'],
    [{ name: 'a', config: {} }, 'config.type'],
    [{ name: 'a', config: { command: 'x' } }, 'config.type'],
    [{ name: 'a', config: { type: 'stdio' } }, 'config.command'],
    [{ name: 'a', config: { type: 'http' } }, 'config.baseUrl'],
  ];
  for (const [body, field] of incomplete) {
    verifies('servers.connect-missing', JSON.stringify(body), async () => {
      await using service = await start();
      const error = await errorOf(await service.post('/api/connect-server', body), 400);
      expect(error).toMatchObject({ code: 'MISSING_FIELD', details: { field } });
      expect(await listServers(service)).toEqual([]);
    });
  }

  const invalid: [unknown, string][] = [
    [{ name: '', config: { type: 'stdio', command: 'x' } }, 'name'],
    [{ name: 'a/b', config: { type: 'stdio', command: 'x' } }, 'name'],
    [{ name: '..', config: { type: 'stdio', command: 'x' } }, 'name'],
    [{ name: 'a\ud800', config: { type: 'stdio', command: 'x' } }, 'name'],
    [{ name: 5, config: { type: 'stdio', command: 'x' } }, 'name'],
    [{ name: 'a', config: 'npx server' }, 'config'],
    [{ name: 'a', config: [] }, 'config'],
    [{ name: 'a', config: { type: 'stdio', command: 'x', env: { N: '\0' } } }, 'config'],
    [{ name: 'a', config: { type: 'carrier-pigeon', command: 'x' } }, 'config.type'],
    [{ name: 'a', config: { type: 'stdio', command: '' } }, 'config.command'],
    [{ name: 'a', config: { type: 'stdio', command: 'x', args: 'y' } }, 'config.args'],
    [{ name: 'a', config: { type: 'stdio', command: 'x', env: { N: 1 } } }, 'config.env.N'],
    [{ name: 'a', config: { type: 'http', baseUrl: 'file:///etc/passwd' } }, 'config.baseUrl'],
    [{ name: 'a', config: { type: 'stdio', command: 'x', argz: [] } }, 'config.argz'],
    [{ name: 'a', config: { type: 'stdio', url: 'https://mcp.example.com' } }, 'config.url'],
  ];
  for (const [body, field] of invalid) {
    verifies(
      'servers.connect-missing',
      `and one that is not valid is INVALID_REQUEST: ${JSON.stringify(body)}`,
      async () => {
        await using service = await start();
        const error = await errorOf(await service.post('/api/connect-server', body), 400);
        expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field } });
        expect(await listServers(service)).toEqual([]);
      },
    );
  }

  const failing = [
    ['there is no such command', { type: 'stdio', command: 'no-such-command-anywhere' }, 'no-such-command'],
    ['the process exits', oddServer(['exits', 'could not open the door']), 'could not open the door'],
    ['the process does not answer', oddServer(['silent'], { timeout: 300 }), '300 ms'],
  ] as const;
  for (const [what, config, reason] of failing) {
    verifies('servers.connect-failed', what, async () => {
      await using service = await start();
      const response = await service.post('/api/connect-server', { name: 'broken', config });
      const error = await errorOf(response, 500);
      expect(error).toMatchObject({
        code: 'AGENT_ERROR',
        details: { serverId: 'broken', reason: expect.stringContaining(reason) },
      });
      expect((await serverWith(service, 'broken', 'error')).error).toContain(reason);
    });
  }

  verifies('servers.connect-failed', 'nobody listens at baseUrl', async () => {
    await using service = await start();
    const config = { type: 'http', baseUrl: `http://127.0.0.1:${await freePort()}/mcp` };
    const response = await service.post('/api/connect-server', { name: 'nobody', config });
    expect(await errorOf(response, 500)).toMatchObject({
      code: 'AGENT_ERROR',
      details: { serverId: 'nobody', reason: expect.stringContaining('ECONNREFUSED') },
    });
    expect((await serverWith(service, 'nobody', 'error')).type).toBe('http');
  });

  verifies('servers.connect-failed', 'the reason holds no secret of the configuration', async () => {
    await using service = await start();
    const secret = 'hunter2-hunter2';
    const config = oddServer(['exits', `login as ${secret} failed`], { env: { LOGIN: secret } });
    const response = await service.post('/api/connect-server', { name: 'chatty', config });
    const error = await errorOf(response, 500);
    expect(error.details.reason).toMatch(/login as .* failed/);
    const { error: shown } = await serverWith(service, 'chatty', 'error');
    expect(`${JSON.stringify(error)} ${shown}`).not.toContain(secret);
  });

  verifies(
    'servers.connect-failed',
    'a server that could not be recorded is not there, so the same request can be made again',
    async () => {
      const store = new WatchedStore(memoryEventStore());
      await using service = await RunningService.start({ adapters: { store } });
      store.refuseNext('mcp-server.registered', new StorageFullError('disk full'));
      const connect = () =>
        service.post('/api/connect-server', { name: 'tools', config: scriptableServer() });
      expect((await errorOf(await connect(), 503)).code).toBe('SERVICE_UNAVAILABLE');
      expect(await listServers(service)).toEqual([]);
      expect((await connect()).status).toBe(200);
    },
  );

  verifies('servers.name-taken', async () => {
    await using service = await start({ configured: scriptableServer() });
    await service.post('/api/connect-server', { name: 'connected', config: scriptableServer() });
    for (const name of ['configured', 'connected']) {
      const response = await service.post('/api/connect-server', { name, config: scriptableServer() });
      expect(await errorOf(response, 400)).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: 'name', issue: expect.stringContaining('in use') },
      });
    }
    expect((await listServers(service)).map(({ name }) => name)).toEqual(['configured', 'connected']);
  });

  verifies('servers.replaced', async () => {
    await using directory = await tempDirectory();
    const llm = { provider: 'scripted', model: 'offline' };
    const yaml = JSON.stringify({ llm, mcpServers: { misspelt: oddServer(['exits']) } });
    const options = { yaml, dataDir: directory.path };
    {
      await using service = await RunningService.start(options);
      await serverWith(service, 'misspelt', 'error');
      const wrong = { type: 'stdio', command: 'no-such-command-here' };
      const refused = await service.post('/api/connect-server', { name: 'failed', config: wrong });
      expect((await errorOf(refused, 500)).details.suggestion).toContain('of the same name');
      for (const name of ['misspelt', 'failed']) {
        const answer = await service.post('/api/connect-server', { name, config: scriptableServer() });
        expect(answer.status).toBe(200);
        await serverWith(service, name, 'connected');
      }
      expect((await listServers(service)).map(({ name }) => name)).toEqual(['misspelt', 'failed']);
    }
    await using service = await RunningService.start(options);
    for (const name of ['misspelt', 'failed']) await serverWith(service, name, 'connected');
  });

  verifies('servers.replaced', 'one that was connected before keeps its configuration', async () => {
    await using server = await streamableServer();
    await using service = await start({ remote: { type: 'http', baseUrl: server.url } });
    await serverWith(service, 'remote', 'connected');
    await server.crash();
    await serverWith(service, 'remote', 'error');
    const response = await service.post('/api/connect-server', {
      name: 'remote',
      config: scriptableServer(),
    });
    expect((await errorOf(response, 400)).code).toBe('INVALID_REQUEST');
  });

  verifies('servers.name-taken', 'also while it is still connecting', async () => {
    await using service = await start();
    const body = { name: 'racing', config: scriptableServer() };
    const answers = await Promise.all([1, 2, 3].map(() => service.post('/api/connect-server', body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    expect(await listServers(service)).toHaveLength(1);
  });

  verifies('servers.environment', async () => {
    const keys = { OPENAI_API_KEY: 'sk-of-the-service', AWS_SECRET_ACCESS_KEY: 'aws', MY_TOKEN: 'mine' };
    await using service = await start({}, keys);
    const config = scriptableServer({ env: { FOR_THE_TOOL: 'yes' } });
    await service.post('/api/connect-server', { name: 'tools', config });
    const environment = JSON.parse(await toolText(service, 'tools', 'env'));
    expect(environment).toMatchObject({ FOR_THE_TOOL: 'yes', PATH: expect.any(String) });
    const allowed = ['FOR_THE_TOOL', 'HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];
    // macOS adds one of its own.
    const names = Object.keys(environment).filter((name) => name !== '__CF_USER_TEXT_ENCODING');
    expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
  });
});

describe('the life of a tool server', () => {
  verifies('servers.crash', async () => {
    await using service = await start({ tools: scriptableServer() });
    await serverWith(service, 'tools', 'connected');
    const pid = Number(await toolText(service, 'tools', 'pid'));
    process.kill(pid, 'SIGKILL');
    expect((await serverWith(service, 'tools', 'error')).error).toContain('SIGKILL');
    expect((await serverWith(service, 'tools', 'connected')).error).toBeUndefined();
    const successor = Number(await toolText(service, 'tools', 'pid'));
    expect(successor).not.toBe(pid);
    expect(isRunning(successor)).toBe(true);
  });

  verifies('servers.crash', 'a process that exits', async () => {
    await using service = await start({ tools: scriptableServer() });
    await serverWith(service, 'tools', 'connected');
    const crashing = execute(service, 'tools', 'crash', { code: 7 });
    expect((await serverWith(service, 'tools', 'error')).error).toContain('code 7');
    expect((await crashing).status).toBe(500);
    await serverWith(service, 'tools', 'connected');
    const reply = await service.post('/api/message-sync', { message: 'use echo {"message": "back"}' });
    expect(await reply.json()).toMatchObject({ response: expect.stringContaining('back') });
  });

  verifies('servers.crash', 'a server behind HTTP', async () => {
    await using server = await streamableServer();
    await using service = await start({ remote: { type: 'http', baseUrl: server.url } });
    await serverWith(service, 'remote', 'connected');
    await server.crash();
    expect((await serverWith(service, 'remote', 'error')).error).toContain('ECONNREFUSED');
  });

  verifies('servers.disconnect', async () => {
    await using service = await start({ tools: scriptableServer() });
    await serverWith(service, 'tools', 'connected');
    const pids = [
      Number(await toolText(service, 'tools', 'pid')),
      Number(await toolText(service, 'tools', 'spawn_child')),
    ];
    expect(pids.map(isRunning)).toEqual([true, true]);
    const response = await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    expect(response.status).toBe(200);
    const record = { id: 'tools', name: 'tools', status: 'disconnected', type: 'stdio' };
    expect(await response.json()).toEqual({
      status: 'disconnected',
      name: 'tools',
      server: record,
      timestamp: isTimestamp,
    });
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect(await listServers(service)).toEqual([record]);
    const refused = await errorOf(await execute(service, 'tools', 'pid'), 500);
    expect(refused).toMatchObject({
      code: 'TOOL_EXECUTION_FAILED',
      details: { toolName: 'pid', serverId: 'tools', reason: expect.stringContaining('disconnected') },
    });
  });

  verifies('servers.disconnect', 'a second time forgets it', async () => {
    await using service = await start();
    await service.post('/api/connect-server', { name: 'gone', config: scriptableServer() });
    const remove = () => service.fetch('/api/mcp/servers/gone', { method: 'DELETE' });
    expect((await remove()).status).toBe(200);
    expect((await remove()).status).toBe(200);
    expect(await listServers(service)).toEqual([]);
    expect(await errorOf(await remove(), 404)).toMatchObject({
      code: 'SERVER_NOT_FOUND',
      details: { serverId: 'gone' },
    });
  });

  verifies('servers.disconnect', 'the name is free again', async () => {
    await using service = await start({ failing: oddServer(['exits']) });
    await serverWith(service, 'failing', 'error');
    await service.fetch('/api/mcp/servers/failing', { method: 'DELETE' });
    expect((await listServers(service))[0]?.status).toBe('disconnected');
    const config = scriptableServer();
    const response = await service.post('/api/connect-server', { name: 'failing', config });
    expect(await response.json()).toMatchObject({ status: 'connected', name: 'failing' });
  });

  verifies('servers.disconnect', 'and so it is when the service stops', async () => {
    const service = await start({ tools: scriptableServer() });
    await serverWith(service, 'tools', 'connected');
    const pids = [
      Number(await toolText(service, 'tools', 'pid')),
      Number(await toolText(service, 'tools', 'spawn_child')),
    ];
    await service.close();
    for (const pid of pids) await processEnd(pid);
  });

  verifies('servers.reconnect', async () => {
    await using service = await start({ tools: scriptableServer() });
    await serverWith(service, 'tools', 'connected');
    const pid = Number(await toolText(service, 'tools', 'pid'));
    const response = await service.post('/api/mcp/servers/tools/reconnect');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'connected',
      name: 'tools',
      server: { id: 'tools', name: 'tools', status: 'connected', type: 'stdio' },
      timestamp: isTimestamp,
    });
    expect(isRunning(pid)).toBe(false);
    expect(Number(await toolText(service, 'tools', 'pid'))).not.toBe(pid);
  });

  verifies('servers.reconnect', 'also one that was disconnected', async () => {
    await using service = await start({ tools: scriptableServer() });
    await serverWith(service, 'tools', 'connected');
    await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' });
    const response = await service.post('/api/mcp/servers/tools/reconnect');
    expect(await response.json()).toMatchObject({ status: 'connected' });
    expect(await toolText(service, 'tools', 'echo', { message: 'again' })).toBe('again');
  });

  verifies('servers.reconnect', 'an unknown one is 404', async () => {
    await using service = await start();
    const response = await service.post('/api/mcp/servers/nobody/reconnect');
    expect(await errorOf(response, 404)).toMatchObject({
      code: 'SERVER_NOT_FOUND',
      details: { serverId: 'nobody' },
    });
  });
});

describe('a restart', () => {
  verifies('servers.restart', async () => {
    await using directory = await tempDirectory();
    const options = {
      dataDir: directory.path,
      yaml: JSON.stringify({ llm: { provider: 'scripted', model: 'offline' } }),
    };
    {
      await using service = await RunningService.start(options);
      const broken = { type: 'stdio', command: 'no-such-command-anywhere' };
      const config = scriptableServer();
      expect((await service.post('/api/connect-server', { name: 'kept', config })).status).toBe(200);
      expect((await service.post('/api/connect-server', { name: 'given-up', config })).status).toBe(200);
      expect((await service.post('/api/connect-server', { name: 'broken', config: broken })).status).toBe(
        500,
      );
      expect((await service.fetch('/api/mcp/servers/given-up', { method: 'DELETE' })).status).toBe(200);
    }
    await using service = await RunningService.start(options);
    const servers = await eventually(
      () => listServers(service),
      (list) => list.every(({ status }) => status !== 'connecting'),
    );
    expect(servers.map(({ name, status }) => ({ name, status }))).toEqual([
      { name: 'kept', status: 'connected' },
      { name: 'broken', status: 'error' },
    ]);
    expect(await (await service.fetch('/api/sessions')).json()).toMatchObject({ sessions: [] });
  });
});

describe('the secrets of servers that are connected at run time', () => {
  verifies('servers.secrets', async () => {
    await using directory = await tempDirectory();
    const options = {
      yaml: JSON.stringify({ llm: { provider: 'scripted', model: 'offline' } }),
      dataDir: directory.path,
    };
    const secret = 'sekrit-4711';
    const config = scriptableServer({ env: { API_TOKEN: secret } });
    {
      await using service = await RunningService.start(options);
      expect((await readdir(directory.path)).includes('secret.key')).toBe(false);
      await service.post('/api/connect-server', { name: 'tools', config });
      expect(await filesWith(directory.path, secret)).toEqual([]);
    }
    const sealed = await sealedIn(directory.path);
    expect(await filesWith(directory.path, sealed)).toEqual([join(directory.path, 'events.db')]);
    {
      await using service = await RunningService.start(options);
      await serverWith(service, 'tools', 'connected');
      expect(await toolText(service, 'tools', 'env')).toContain(secret);
      expect((await service.fetch('/api/mcp/servers/tools', { method: 'DELETE' })).status).toBe(200);
      // Already while it runs: the file, its journal and whatever else there is.
      expect(await filesWith(directory.path, sealed)).toEqual([]);
    }
    expect(await filesWith(directory.path, sealed)).toEqual([]);
    expect(await filesWith(directory.path, secret)).toEqual([]);
  });
});

/** The one sealed secret of a data directory whose service has stopped. */
async function sealedIn(directory: string): Promise<string> {
  await using store = await openSqliteEventStore({ directory, log: silentLog });
  const streams = await store.sessions({ after: SERVER_SECRET_STREAMS });
  const found = streams.find(({ sessionId }) => sessionId.startsWith(SERVER_SECRET_STREAMS));
  const [envelope] = await store.read(found?.sessionId ?? '', 0);
  if (envelope?.event.type !== 'secret.kept') throw new Error('nothing is sealed');
  return envelope.event.sealed;
}
