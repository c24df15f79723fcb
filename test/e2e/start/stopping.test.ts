import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { OpenAiUpstream, textReply, type UpstreamReply } from '../../support/models/openai-upstream.ts';
import { describeWays, type Way } from '../../support/project/describe-ways.ts';
import { agentFolder } from '../../support/service/agent-folder.ts';
import { isRunning, processEnd } from '../../support/service/process-life.ts';
import { SCRIPTED } from '../../support/service/running-service.ts';
import { type ListeningService, ServiceProcess } from '../../support/service/service-process.ts';
import { connectClient } from '../../support/sockets/websocket-client.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { initializeMcp, openMcp } from '../../support/tools/mcp-http.ts';
import { serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const IN_MEMORY = ['--data-dir', ':memory:'];

/** A service of which each turn waits for the test: its model is an upstream in this process. */
async function start(
  { script }: Way,
  { drainTimeoutMs = 30_000, args = IN_MEMORY }: { drainTimeoutMs?: number; args?: string[] } = {},
) {
  const upstream = await OpenAiUpstream.listen();
  const llm = { provider: 'openai-compatible', model: 'm', baseURL: upstream.baseURL };
  const folder = await agentFolder(
    [
      `llm: ${JSON.stringify(llm)}`,
      `mcpServers: ${JSON.stringify({ tools: scriptableServer() })}`,
      'limits: { requestsPerMinute: false }',
      `server: { drainTimeoutMs: ${drainTimeoutMs} }`,
    ].join('\n'),
  );
  await writeFile(join(folder.path, 'service.yml'), '{}');
  const options = { cwd: folder.path, script };
  const launch = () => ServiceProcess.listening(['--agent', 'agent.yml', ...args], options);
  const service = await launch();
  const dispose = async () => {
    await service[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { upstream, service, launch, [Symbol.asyncDispose]: dispose };
}

/** The ids of the tool server's process and of one that it has started. */
async function toolProcesses(service: ListeningService): Promise<number[]> {
  await serverWith(service, 'tools', 'connected');
  const ids = ['pid', 'spawn_child'].map((tool) => toolText(service, 'tools', tool));
  return (await Promise.all(ids)).map(Number);
}

describeWays('a service that is told to stop', (way) => {
  verifies('cli.stop', async () => {
    await using running = await start(way);
    const { upstream, service } = running;
    const gate = Promise.withResolvers<void>();
    const slowReply: UpstreamReply = {
      stream: [{ text: 'One ' }, { gate: gate.promise }, { text: 'two' }, { finish: 'stop' }, { done: true }],
    };
    upstream.replyWith(slowReply, slowReply);
    using socket = await connectClient(`ws://127.0.0.1:${service.port}/`);
    using idle = await connectClient(`ws://127.0.0.1:${service.port}/?session=idle`);
    const processes = await toolProcesses(service);
    socket.say('count');
    await socket.until((frames) => frames.some(({ event }) => event === 'chunk'));
    const sync = service.post('/api/message-sync', { message: 'count too', sessionId: 'rest' });
    await upstream.request(1);

    service.process.kill('SIGTERM');
    await service.process.stderr(/stopping/);
    expect(await idle.closed).toMatchObject({ code: 1012 });
    socket.say('too late');
    expect((await socket.settled()).at(-1)).toMatchObject({
      event: 'error',
      data: { code: 'SERVICE_UNAVAILABLE' },
    });
    await expect(connectClient(`ws://127.0.0.1:${service.port}/`)).rejects.toThrow('no connection');
    gate.resolve();

    expect((await socket.settled(2)).at(-1)).toEqual({ event: 'response', data: { content: 'One two' } });
    expect(await (await sync).json()).toMatchObject({ success: true, response: 'One two' });
    expect(await socket.closed).toMatchObject({ code: 1012 });
    expect(await service.process.ended).toMatchObject({ code: 0, signal: null });
    await Promise.all(processes.map(processEnd));
  });

  verifies('cli.stop', 'each socket with the turn of its own session', async () => {
    await using running = await start(way);
    const { upstream, service } = running;
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const { promise: gate } of gates)
      upstream.replyWith({
        stream: [{ text: 'One ' }, { gate }, { text: 'two' }, { finish: 'stop' }, { done: true }],
      });
    const sessions = ['first', 'second'];
    const sockets = await Promise.all(
      sessions.map((name) => connectClient(`ws://127.0.0.1:${service.port}/?session=${name}`)),
    );
    for (const [index, socket] of sockets.entries()) {
      socket.say('count');
      await upstream.request(index);
    }
    service.process.kill('SIGTERM');
    await service.process.stderr(/stopping/);
    gates[0]?.resolve();
    expect(await sockets[0]?.closed).toMatchObject({ code: 1012 });
    // The other turn still runs: its socket is open, and the service answers.
    sockets[1]?.say('too late');
    expect((await sockets[1]?.settled())?.at(-1)).toMatchObject({ event: 'error' });
    gates[1]?.resolve();
    expect((await sockets[1]?.settled(2))?.at(-1)).toEqual({
      event: 'response',
      data: { content: 'One two' },
    });
    expect(await sockets[1]?.closed).toMatchObject({ code: 1012 });
    expect(await service.process.ended).toMatchObject({ code: 0 });
  });

  verifies(
    'cli.stop',
    'meanwhile messages are refused, probes answered, and event streams have a proper end',
    async () => {
      await using running = await start(way);
      const { upstream, service } = running;
      const gate = Promise.withResolvers<void>();
      upstream.replyWith({
        stream: [{ gate: gate.promise }, { text: 'done' }, { finish: 'stop' }, { done: true }],
      });
      const headers = { Accept: 'text/event-stream' };
      const stream = (await service.fetch('/api/sessions/default/events', { headers })).text();
      await service.post('/api/message', { message: 'count' });
      await upstream.request(0);
      service.process.kill('SIGTERM');
      await service.process.stderr(/stopping/);
      for (const refused of [service.post('/api/message', { message: 'late' }), service.fetch('/readyz')]) {
        const { status, headers: answered } = await refused;
        expect([status, answered.get('Retry-After')]).toEqual([503, '5']);
      }
      expect((await service.fetch('/healthz')).status).toBe(200);
      const late = (await service.fetch('/api/sessions/default/events', { headers })).text();
      gate.resolve();
      for (const frames of await Promise.all([stream, late])) expect(frames).toContain('"event":"response"');
      expect(await service.process.ended).toMatchObject({ code: 0 });
    },
  );

  verifies('cli.stop', 'SIGHUP too', async () => {
    await using running = await start(way);
    const { upstream, service } = running;
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [{ gate: gate.promise }, { text: 'done' }, { finish: 'stop' }, { done: true }],
    });
    const answer = service.post('/api/message-sync', { message: 'count' });
    await upstream.request(0);
    service.process.kill('SIGHUP');
    await service.process.stderr(/"signal":"SIGHUP"/);
    gate.resolve();
    expect(await (await answer).json()).toMatchObject({ response: 'done' });
    expect(await service.process.ended).toMatchObject({ code: 0, signal: null });
  });

  verifies(
    'cli.stop',
    'SIGINT too, at once when nothing runs, whatever streams clients hold open',
    async () => {
      await using folder = await agentFolder(SCRIPTED);
      const args = ['--agent', 'agent.yml', ...IN_MEMORY];
      await using service = await ServiceProcess.listening(args, { cwd: folder.path, script: way.script });
      const session = await initializeMcp(service.port);
      const stream = await openMcp(service.port, 'GET', session);
      const over = text(stream).catch(() => 'cut off');
      await using client = await mcpClient(service);
      await client.sdk.ping();
      const before = performance.now();
      service.process.kill('SIGINT');
      expect(await service.process.ended).toMatchObject({ code: 0, signal: null });
      expect(performance.now() - before).toBeLessThan(5_000);
      await over;
    },
  );

  verifies('cli.stop', 'a call over /mcp gets its answer', async () => {
    await using running = await start(way);
    const { upstream, service } = running;
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [{ gate: gate.promise }, { text: 'just in time' }, { finish: 'stop' }, { done: true }],
    });
    await using client = await mcpClient(service);
    const answer = client.chat('hello');
    await upstream.request(0);
    service.process.kill('SIGTERM');
    await service.process.stderr(/stopping/);
    gate.resolve();
    expect(await answer).toBe('just in time');
    expect(await service.process.ended).toMatchObject({ code: 0 });
  });

  verifies('cli.stop', 'a turn that outlasts the bound is left, and goes on at the next start', async () => {
    await using running = await start(way, { drainTimeoutMs: 100, args: ['--data-dir', 'data'] });
    const { upstream, service, launch } = running;
    upstream.replyWith(
      { stream: [{ text: 'Never ' }, { hang: true }] },
      textReply('Now.'),
      textReply('Next.'),
    );
    using socket = await connectClient(`ws://127.0.0.1:${service.port}/`);
    await using client = await mcpClient(service);
    const lost = expect(client.chat('slow', { sessionId: 'named' })).rejects.toThrow();
    await upstream.request(0);
    const processes = await toolProcesses(service);
    service.process.kill('SIGTERM');
    expect(await socket.closed).toMatchObject({ code: 1012 });
    expect(await service.process.ended).toMatchObject({ code: 0 });
    await client.transport.close();
    await lost;
    await Promise.all(processes.map(processEnd));

    await using again = await launch();
    const next = await again.post('/api/message-sync', { message: 'go on', sessionId: 'named' });
    expect(await next.json()).toMatchObject({ response: 'Next.' });
    const { messages } = (await upstream.request(2)).body;
    expect(messages.map(({ role, content }) => [role, content]).slice(-3)).toEqual([
      ['user', 'slow'],
      ['assistant', 'Now.'],
      ['user', 'go on'],
    ]);
  });

  verifies('cli.stop-twice', 'but not SIGHUP where it reloads the agents', async () => {
    const args = [...IN_MEMORY, '--config', 'service.yml', '--log-level', 'info'];
    await using running = await start(way, { args });
    const { upstream, service } = running;
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [{ gate: gate.promise }, { text: 'done' }, { finish: 'stop' }, { done: true }],
    });
    const answer = service.post('/api/message-sync', { message: 'count' });
    await upstream.request(0);
    service.process.kill('SIGTERM');
    await service.process.stderr(/stopping/);
    service.process.kill('SIGHUP');
    await service.process.stderr(/"signal":"SIGHUP".*the agents are not reloaded: the service is stopping/);
    gate.resolve();
    expect(await (await answer).json()).toMatchObject({ response: 'done' });
    expect(await service.process.ended).toMatchObject({ code: 0, signal: null });
  });

  verifies('cli.stop-twice', async () => {
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      await using running = await start(way);
      const { upstream, service } = running;
      upstream.otherwise = () => ({ hang: true });
      await serverWith(service, 'tools', 'connected');
      const toolServer = Number(await toolText(service, 'tools', 'pid'));
      expect((await service.post('/api/message', { message: 'hang' })).status).toBe(200);
      await upstream.request(0);
      service.process.kill(signal);
      await service.process.stderr(/stopping/);
      expect(isRunning(service.process.pid)).toBe(true);
      service.process.kill(signal);
      expect(await service.process.ended).toMatchObject({ code, signal: null });
      await processEnd(toolServer);
    }
  });
});
