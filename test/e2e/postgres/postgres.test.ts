import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { OpenAiUpstream, type UpstreamReply } from '../../support/models/openai-upstream.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { eventually } from '../../support/project/eventually.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { type Ending, ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { SeverableLink } from '../../support/sockets/severable-link.ts';
import { verifies } from '../requirements.ts';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await PostgresServer.start();
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
});

/** Services of one database, each a process of its own, and the model that they ask. */
async function servicesOn(url: string) {
  const upstream = await OpenAiUpstream.listen();
  const llm = { provider: 'openai', model: 'gpt-test', baseURL: upstream.baseURL, apiKey: 'none' };
  const folder = await agentFolder(JSON.stringify({ llm, limits: { requestsPerMinute: false } }));
  const cwd = folder.path;
  const environment = { AGENT_SERVICE_STORE: url };
  const start = () => ServiceProcess.listening(['--agent', 'agent.yml'], { cwd, environment });
  const command = (...args: string[]): Promise<Ending> =>
    new ServiceProcess(args, { cwd, environment }).ended;
  const dispose = async () => {
    await upstream[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { upstream, url, cwd, start, command, [Symbol.asyncDispose]: dispose };
}

function gated() {
  const gate = Promise.withResolvers<void>();
  const reply: UpstreamReply = {
    stream: [{ text: 'At ' }, { gate: gate.promise }, { text: 'last.' }, { finish: 'stop' }, { done: true }],
  };
  return { reply, open: () => gate.resolve() };
}

function saying(text: string): UpstreamReply {
  return { stream: [{ text }, { finish: 'stop' }, { done: true }] };
}

const asked = (message: string, sessionId = 's') => ({ message, sessionId });

describe('a service whose log is in PostgreSQL', () => {
  verifies('postgres.restart', async () => {
    await using services = await servicesOn(postgres.newUrl());
    const { upstream } = services;
    await using first = await services.start();
    upstream.replyWith(saying('Hello.'));
    expect(await (await first.post('/api/message-sync', asked('hi'))).json()).toMatchObject({
      response: 'Hello.',
    });
    const { reply, open } = gated();
    upstream.replyWith(reply);
    const cut = first.post('/api/message-sync', asked('wait for it')).catch(() => 'cut off');
    await upstream.request(1);
    // The model is called while the message is being written.
    await eventually(
      () => viewOf(first, 's'),
      ({ turns }) => turns.requested === 2,
    );
    first.process.kill('SIGKILL');
    expect(await cut).toBe('cut off');
    open();
    upstream.replyWith(saying('Here I am.'));
    await using second = await services.start();
    const view = await eventually(
      () => viewOf(second, 's'),
      ({ turns }) => turns.completed === 2,
    );
    expect(view.turns).toMatchObject({ requested: 2, completed: 2, failed: 0 });
  });

  verifies('postgres.standby', async () => {
    await using services = await servicesOn(postgres.newUrl());
    const { upstream, cwd } = services;
    const environment = { AGENT_SERVICE_STORE: services.url };
    const standBy = () =>
      new ServiceProcess(['--agent', 'agent.yml', '--web-port', '0', '--standby'], { cwd, environment });
    await using first = await services.start();
    const { reply, open } = gated();
    upstream.replyWith(reply);
    const cut = first.post('/api/message-sync', asked('wait for it')).catch(() => 'cut off');
    await upstream.request(0);
    await eventually(
      async () => (await first.fetch('/api/sessions/s')).status,
      (status) => status === 200,
    );
    await using waiting = standBy();
    await waiting.stderr(/standing by: another service has the log/);
    first.process.kill('SIGKILL');
    expect(await cut).toBe('cut off');
    open();
    upstream.replyWith(saying('Here I am.'));
    const [, port] = await waiting.stdout(/listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
    const second = new ListeningService(waiting, Number(port));
    await eventually(
      () => viewOf(second, 's'),
      ({ turns }) => turns.completed === 1,
    );
    // One that stops gives its lease back.
    await using third = standBy();
    await third.stderr(/standing by/);
    waiting.kill('SIGTERM');
    expect((await waiting.ended).code).toBe(0);
    await third.stdout(/listening on/);
  });

  verifies('postgres.standby', 'SIGHUP does not end it, and is done as soon as it serves', async () => {
    await using services = await servicesOn(postgres.newUrl());
    const { cwd, upstream } = services;
    const environment = { AGENT_SERVICE_STORE: services.url };
    await writeFile(join(cwd, 'service.yml'), 'agent: agent.yml');
    await using first = await services.start();
    const args = ['--config', 'service.yml', '--web-port', '0', '--standby', '--log-level', 'info'];
    await using waiting = new ServiceProcess(args, { cwd, environment });
    await waiting.stderr(/standing by/);
    const agent = JSON.parse(await readFile(join(cwd, 'agent.yml'), 'utf8'));
    await writeFile(join(cwd, 'agent.yml'), JSON.stringify({ ...agent, systemPrompt: 'A later one.' }));
    waiting.kill('SIGHUP');
    first.process.kill('SIGTERM');
    const [, port] = await waiting.stdout(/listening on http:\/\/127\.0\.0\.1:(\d+)\n/);
    await waiting.stderr(/the agent was reloaded/);
    const second = new ListeningService(waiting, Number(port));
    upstream.replyWith(saying('Here I am.'));
    await second.post('/api/message-sync', asked('hi'));
    expect(JSON.stringify((await upstream.request(0)).body)).toContain('A later one.');
  });

  verifies('postgres.in-use', async () => {
    await using services = await servicesOn(postgres.newUrl());
    await using first = await services.start();
    const refused = await services.command('--agent', 'agent.yml', '--web-port', '0');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      new RegExp(
        `is in use by another agent-service \\(.*process ${first.process.pid}\\).* stop the other one`,
      ),
    );
  });

  verifies('postgres.paused', async () => {
    await using services = await servicesOn(postgres.newUrl());
    const { upstream } = services;
    await using first = await services.start();
    const { reply, open } = gated();
    upstream.replyWith(reply);
    const late = first.post('/api/message-sync', asked('wait for it')).then(
      (response) => response.status,
      () => 'cut off',
    );
    await upstream.request(0);
    first.process.kill('SIGSTOP');
    upstream.replyWith(saying('From the second.'));
    await using second = await services.start();
    await eventually(
      () => viewOf(second, 's'),
      ({ turns }) => turns.completed === 1,
    );
    // The reply of its model comes now, and it would record it.
    open();
    first.process.kill('SIGCONT');
    const { code, stderr } = await first.process.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('another one has its log');
    expect(await late).not.toBe(200);
    const log = await (await second.fetch('/api/sessions/s/events')).text();
    expect(log).toContain('From the second.');
    expect(log).not.toContain('last.');
  });

  verifies('postgres.away', async () => {
    await using link = await SeverableLink.to(postgres.port);
    const url = postgres.newUrl().replace(`:${postgres.port}`, `:${link.port}`);
    await using services = await servicesOn(url);
    const { upstream } = services;
    await using service = await services.start();
    upstream.replyWith(saying('Before.'));
    expect((await service.post('/api/message-sync', asked('one'))).status).toBe(200);
    const { reply, open } = gated();
    upstream.replyWith(reply);
    const running = service.post('/api/message-sync', asked('wait for it', 'open'));
    await upstream.request(1);
    // The model is called while the message is being recorded.
    await eventually(
      async () => (await service.fetch('/api/sessions/open')).status,
      (status) => status === 200,
    );
    await link.sever();
    open();
    // What the model has said cannot be recorded.
    expect((await errorOf(await running, 500)).message).toContain('It goes on by itself later.');
    for (const path of ['/api/message-sync', '/api/message']) {
      const refused = await service.post(path, asked('two'));
      expect(refused.headers.get('Retry-After')).toBe('2');
      expect(await errorOf(refused, 503)).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        details: { reason: 'the database of the service cannot be reached', retryAfter: 2 },
      });
    }
    expect(await errorOf(await service.fetch('/readyz'), 503)).toMatchObject({
      details: { reason: expect.stringContaining('the event log cannot be written') },
    });
    expect((await service.fetch('/healthz')).status).toBe(200);
    await link.restore();
    await eventually(
      async () => (await service.fetch('/readyz')).status,
      (status) => status === 200,
    );
    // Also for the messages that were refused: their models were asked while they were being recorded.
    for (let reply = 0; reply < 10; reply += 1) upstream.replyWith(saying('Here.'));
    await eventually(
      () => viewOf(service, 'open'),
      ({ turns }) => turns.completed === 1,
    );
    const answer = await (await service.post('/api/message-sync', asked('three'))).json();
    expect(answer).toMatchObject({ response: 'Here.' });
    expect((await viewOf(service, 's')).turns).toMatchObject({ requested: 2, completed: 2 });
  });

  verifies('postgres.copy', async () => {
    const url = postgres.newUrl();
    await using services = await servicesOn(url);
    const { upstream, cwd, command } = services;
    const inFolder = { cwd, environment: {} };
    const folder = await ServiceProcess.listening(['--agent', 'agent.yml', '--data-dir', 'data'], inFolder);
    for (const sessionId of ['a', 'b']) {
      upstream.replyWith(saying(`Hello ${sessionId}.`));
      await folder.post('/api/message-sync', asked('hi', sessionId));
    }
    const busy = await command('copy', '--from', 'data', '--to', url);
    expect(busy).toMatchObject({ code: 1 });
    expect(busy.stderr).toContain('is in use');
    folder.process.kill('SIGTERM');
    await folder.process.ended;
    const first = await command('copy', '--from', 'data', '--to', url);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^copied 2 streams with 8 events;/),
    });
    const again = await command('copy', '--from', 'data', '--to', url);
    expect(again.stdout).toContain('copied 2 streams with 8 events, 2 of them before; each was read again');
    const service = await services.start();
    upstream.replyWith(saying('And on.'));
    expect((await service.post('/api/message-sync', asked('more', 'a'))).status).toBe(200);
    service.process.kill('SIGTERM');
    await service.process.ended;
    expect((await command('copy', '--from', url, '--to', 'back')).code).toBe(0);
    const moved = await command('export', 'a');
    const back = await new ServiceProcess(['export', 'a', '--data-dir', 'back'], inFolder).ended;
    expect(moved.stdout.split('\n')).toHaveLength(9);
    expect(back.stdout).toBe(moved.stdout);
    // The folder has fewer events of this session.
    const differs = await command('copy', '--from', 'back', '--to', 'data');
    expect(differs).toMatchObject({ code: 1 });
    expect(differs.stderr).toContain(
      'a: the target has 4 events and the source 8, and they are not the same',
    );
  });

  verifies('postgres.commands', async () => {
    const url = postgres.newUrl();
    await using services = await servicesOn(url);
    const { upstream, command } = services;
    const created = await command('keys', 'create', '--name', 'ci', '--role', 'admin');
    expect(created.stdout).toMatch(/^as_/);
    await using service = await services.start();
    upstream.replyWith(saying('Hello.'));
    await service.post('/api/message-sync', asked('hi'));
    expect((await command('sessions')).stdout).toContain('"sessionId":"s"');
    expect((await command('export', 's')).stdout).toContain('Hello.');
    expect((await command('audit')).stdout).toContain('"what":"key.create"');
    expect((await command('replay', 's')).code).toBe(0);
    expect((await command('keys', 'list')).stdout).toMatch(/ ci +admin /);
    const refused = await command('keys', 'create', '--name', 'more', '--role', 'user');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/is in use by another agent-service/);
    const none = await command('sessions', '--store', postgres.newUrl());
    expect(none.stderr).toMatch(/^agent-service: there is no event log in schema s\d+ of the database/);
    const bad = await command('sessions', '--store', 'postgres://user:secret@127.0.0.1:1/x');
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.stderr).toMatch(
      /cannot open PostgreSQL at 127\.0\.0\.1:1\/x, schema agent_service: .*ECONNREFUSED/,
    );
    expect(bad.stderr).not.toContain('secret');
  });
});
