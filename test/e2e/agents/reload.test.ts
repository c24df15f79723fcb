// biome-ignore-all lint/suspicious/noTemplateCurlyInString: an agent file under test holds references
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { OpenAiUpstream, textReply, toolCallReply } from '../../support/models/openai-upstream.ts';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { isRunning } from '../../support/service/process-life.ts';
import { RunningService, silentLog } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { GatedTools } from '../../support/tools/mcp/gated-tools.ts';
import { streamableServer } from '../../support/tools/mcp/http-servers.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { serverWith, toolText } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const json = async (response: Response | Promise<Response>): Promise<unknown> => (await response).json();

/** An agent whose model is the test's server. */
function agentWith({ baseURL }: OpenAiUpstream, more: object): string {
  return JSON.stringify({ llm: { provider: 'openai', model: 'm', baseURL, apiKey: 'k' }, ...more });
}

const promptOf = ({ body }: { body: { messages: readonly { role: string; content?: unknown }[] } }) =>
  body.messages.find(({ role }) => role === 'system')?.content;

/** An agent whose model does what messages say. */
function scripted(mcpServers: object, more: object = {}): string {
  return JSON.stringify({ llm: { provider: 'scripted', model: 'offline' }, mcpServers, ...more });
}

const stdio = (command: string) => ({ type: 'stdio', command });

const statesOf = async (service: RunningService): Promise<string> =>
  (await service.fetch('/api/statecharts')).text();

/** Resolves when a turn waits for tool servers. */
const waitingTurn = (service: RunningService) =>
  eventually(
    () => statesOf(service),
    (shown) => shown.includes('preparing'),
  );

async function serversOf(service: RunningService): Promise<string[]> {
  const { servers } = (await json(service.fetch('/api/mcp/servers'))) as {
    servers: { id: string; status: string }[];
  };
  return servers.map(({ id, status }) => `${id} ${status}`);
}

/** The versions of the agent with which the turns of the session began. */
async function versionsOf(service: RunningService): Promise<(string | undefined)[]> {
  const text = await (await service.fetch('/api/sessions/default/export')).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event?: { type?: string; agentVersion?: string } })
    .flatMap(({ event }) => (event?.type === 'turn.started' ? [event.agentVersion] : []));
}

describe('an agent file that is read again', () => {
  verifies('agents.reload', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const agents = { only: agentWith(upstream, { systemPrompt: 'first' }) };
    await using service = await RunningService.start({ agents });
    const gate = Promise.withResolvers<void>();
    upstream.replyWith({
      stream: [{ gate: gate.promise }, { text: 'one' }, { finish: 'stop' }, { done: true }],
    });
    const running = service.post('/api/message-sync', { message: 'a' });
    await upstream.request(0);
    agents.only = agentWith(upstream, { systemPrompt: 'second', name: 'Renamed' });
    const reloaded = await json(service.post('/api/agents/only/reload'));
    expect(reloaded).toMatchObject({ status: 'reloaded', agentId: 'only', needRestart: [] });
    expect(await json(service.fetch('/api/agent'))).toMatchObject({
      name: 'Renamed',
      systemPrompt: 'second',
    });
    const waiting = service.post('/api/message-sync', { message: 'b' });
    gate.resolve();
    expect(await json(running)).toMatchObject({ response: 'one' });
    expect(await json(waiting)).toMatchObject({ response: 'ok' });
    expect(upstream.requests.map(promptOf)).toEqual(['first', 'second']);
    const [first, second] = await versionsOf(service);
    const { agentVersion } = reloaded as { agentVersion: string };
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect(second).toBe(agentVersion);
    expect(first).not.toBe(second);
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({
      status: 'unchanged',
      agentVersion,
    });
  });

  verifies(
    'agents.reload',
    'the export still has the references of servers that did not change',
    async () => {
      const file = (systemPrompt: string) =>
        JSON.stringify({
          llm: { provider: 'scripted', model: 'offline' },
          systemPrompt,
          mcpServers: {
            shop: { type: 'stdio', command: 'none', args: ['$ACCOUNT'], description: 'of ${CUSTOMER:-all}' },
            far: { type: 'http', url: 'http://127.0.0.1:9/$PLACE' },
          },
        });
      const environment = { ACCOUNT: 'account-of-ada', PLACE: 'key-in-the-path' };
      const agents = { only: file('first') };
      await using service = await RunningService.start({ agents, environment });
      const exported = async () => (await service.fetch('/api/config.yaml')).text();
      const before = await exported();
      expect(before).toContain('$ACCOUNT');
      agents.only = file('second');
      expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({ status: 'reloaded' });
      expect(await exported()).toBe(before.replace('first', 'second'));
    },
  );

  verifies('agents.reload-invalid', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const agents = { only: agentWith(upstream, { systemPrompt: 'first' }) };
    await using service = await RunningService.start({ agents });
    for (const broken of [
      '{',
      agentWith(upstream, { systemPromt: 'x' }),
      JSON.stringify({ llm: { provider: 'anthropic', model: 'm' } }),
    ]) {
      agents.only = broken;
      const refused = await service.post('/api/agents/only/reload');
      const { details } = await errorOf(refused, 400);
      expect(details).toMatchObject({ agentId: 'only', reason: expect.stringMatching(/\S/) });
    }
    await service.post('/api/message-sync', { message: 'a' });
    expect(upstream.requests.map(promptOf)).toEqual(['first']);
  });

  verifies('agents.reload-servers', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const tools = new GatedTools({ look: { readOnly: true } });
    await using former = await streamableServer({ tools: tools.server });
    await using later = await streamableServer({ tools: tools.server });
    const withServers = (mcpServers: object) => agentWith(upstream, { mcpServers });
    const http = (url: string) => ({ type: 'http', url });
    const agents = { only: withServers({ kept: http(later.url), gone: http(former.url) }) };
    await using service = await RunningService.start({ agents });
    const serversNow = () => serversOf(service);
    await eventually(serversNow, (now) => isDeepStrictEqual(now, ['kept connected', 'gone connected']));
    const look = (id: string) => toolCallReply([{ id, name: 'gone__look', arguments: {} }]);
    upstream.replyWith(look('c1'), look('c2'), textReply('done'));
    const running = service.post('/api/message-sync', { message: 'a' });
    const call = await tools.call('look');

    agents.only = withServers({ kept: http(later.url), added: http(former.url) });
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({
      servers: { added: ['added'], changed: [], removed: ['gone'] },
    });
    await eventually(serversNow, (now) => isDeepStrictEqual(now, ['kept connected', 'added connected']));
    // The running turn still has its server, also for its next call.
    call.answer('seen');
    (await tools.call('look', 1)).answer('seen again');
    expect(await json(running)).toMatchObject({ response: 'done' });
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('seen again');
    const machines = () => statesOf(service);
    await eventually(machines, (shown) => shown.includes('added') && !shown.includes('gone'));
  });

  verifies('agents.reload-servers', 'also one whose message is on its way to the log', async () => {
    const store = new WatchedStore(memoryEventStore());
    const tools = new DirectedTools({ pay: {} }, (call) => call.answer('paid'));
    const file = (systemPrompt: string, mcpServers: object) =>
      JSON.stringify({ llm: { provider: 'scripted', model: 'offline' }, systemPrompt, mcpServers });
    const agents = { only: file('one', { bank: { type: 'stdio', command: 'none' } }) };
    await using service = await RunningService.start({ agents, adapters: { store, connector: tools } });
    const servers = async () => JSON.stringify(await json(service.fetch('/api/mcp/servers')));
    await eventually(servers, (now) => now.includes('"connected"'));
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    store.beforeAppend = async (events) => {
      if (!events.some(({ type }) => type === 'turn.started')) return;
      reached.resolve();
      await gate.promise;
    };
    const asked = service.post('/api/message-sync', { message: 'use pay {}' });
    await reached.promise;
    // Twice, so that its version is not the one before, either.
    for (const prompt of ['two', 'three']) {
      agents.only = file(prompt, {});
      await service.post('/api/agents/only/reload');
    }
    gate.resolve();
    expect(await json(asked)).toMatchObject({ response: expect.stringContaining('paid') });
    expect(tools.calls).toHaveLength(1);
  });

  verifies(
    'agents.reload-servers',
    'a server that came and went while a turn of an older version waits ends at once',
    async () => {
      const approval = { default: 'auto', rules: [{ server: 'tools', tool: 'echo', policy: 'ask' }] };
      const version = (V: string) => scripted({ tools: { ...scriptableServer(), env: { V } } }, { approval });
      const agents = { only: version('1') };
      await using service = await RunningService.start({ agents });
      const pidOf = async () => {
        await serverWith(service, 'tools', 'connected');
        return Number(await toolText(service, 'tools', 'pid'));
      };
      const ofTurn = await pidOf();
      await service.post('/api/message', { message: 'use echo {"message":"hi"}' });
      await eventually(
        async () => (await service.fetch('/api/approvals')).text(),
        (waiting) => waiting.includes('"toolName":"echo"'),
      );
      agents.only = version('2');
      await service.post('/api/agents/only/reload');
      const between = await pidOf();
      agents.only = version('3');
      await service.post('/api/agents/only/reload');
      await expect.poll(() => isRunning(between)).toBe(false);
      expect([isRunning(ofTurn), isRunning(await pidOf())]).toEqual([true, true]);
    },
  );

  verifies(
    'agents.reload-servers',
    'a turn that waited for its servers is not offered one that came with a later version and its rules',
    async () => {
      const tools = new DirectedTools({ pay: {} }, (call) => call.answer('paid'));
      const agents = { only: scripted({}) };
      await using service = await RunningService.start({ agents, adapters: { connector: tools } });
      const slow = Promise.withResolvers<void>();
      tools.open = slow.promise;
      agents.only = scripted({ slow: stdio('slow') });
      await service.post('/api/agents/only/reload');
      const asked = service.post('/api/message-sync', { message: 'use bank__pay {}' });
      await waitingTurn(service);
      tools.open = Promise.resolve();
      const rules = [{ server: 'bank', tool: '*', policy: 'ask' }];
      agents.only = scripted(
        { slow: stdio('slow'), bank: stdio('bank') },
        { approval: { default: 'auto', rules } },
      );
      expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({
        servers: { added: ['bank'] },
      });
      await eventually(
        () => serversOf(service),
        (now) => now.includes('bank connected'),
      );
      slow.resolve();
      expect(JSON.stringify(await json(asked))).not.toContain('paid');
      // The next turn has the server, and its rule.
      await service.post('/api/message', { message: 'use bank__pay {}' });
      await eventually(
        async () => (await service.fetch('/api/approvals')).text(),
        (waiting) => waiting.includes('"serverId":"bank"'),
      );
      expect(tools.calls).toEqual([]);
    },
  );

  verifies(
    'agents.reload-servers',
    'a turn that waits for its servers has their tools, also if they are replaced meanwhile',
    async () => {
      const tools = new DirectedTools({ pay: {} }, (call) => call.answer('paid'));
      const agents = { only: scripted({}) };
      await using service = await RunningService.start({ agents, adapters: { connector: tools } });
      const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      tools.open = second.promise;
      agents.only = scripted({ bank: stdio('second') });
      await service.post('/api/agents/only/reload');
      const asked = service.post('/api/message-sync', { message: 'use pay {}' });
      await waitingTurn(service);
      tools.open = third.promise;
      agents.only = scripted({ bank: stdio('third') });
      expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({
        servers: { changed: ['bank'] },
      });
      second.resolve();
      const answer = await json(asked);
      third.resolve();
      expect(JSON.stringify(answer)).toContain('paid');
      expect(tools.calls).toHaveLength(1);
    },
  );

  verifies('agents.reload', 'says what needs a restart', async () => {
    await using upstream = await OpenAiUpstream.listen();
    const agents = { only: agentWith(upstream, { server: { drainTimeoutMs: 1 } }) };
    await using service = await RunningService.start({ agents });
    agents.only = agentWith(upstream, {
      server: { drainTimeoutMs: 2 },
      limits: { requestsPerMinute: 5, queuedMessages: 1 },
    });
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({
      status: 'reloaded',
      needRestart: ['server', 'limits'],
    });
    // As long as the file differs from what the service was started with.
    agents.only = agentWith(upstream, { server: { drainTimeoutMs: 2 } });
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({ needRestart: ['server'] });
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({
      status: 'unchanged',
      needRestart: ['server'],
    });
    agents.only = agentWith(upstream, { server: { drainTimeoutMs: 1 } });
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({ needRestart: [] });
    const roots = ['/tmp'];
    agents.only = agentWith(upstream, { server: { drainTimeoutMs: 1 }, roots });
    expect(await json(service.post('/api/agents/only/reload'))).toMatchObject({ needRestart: ['roots'] });
  });

  verifies(
    'agents.reload',
    'a setting that the service takes from another file needs no restart, and is told at the start',
    async () => {
      await using upstream = await OpenAiUpstream.listen();
      const limits = (requestsPerMinute: number, queuedMessages: number) => ({
        limits: { requestsPerMinute, queuedMessages },
      });
      const warned: object[] = [];
      const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
      const agents = {
        first: agentWith(upstream, { limits: { queuedMessages: 1 } }),
        second: agentWith(upstream, limits(5, 1)),
        third: agentWith(upstream, { limits: { queuedMessages: 1 } }),
      };
      await using service = await RunningService.start({ agents, log });
      expect(warned).toEqual([
        expect.objectContaining({ agentId: 'second', sections: ['limits.requestsPerMinute'] }),
      ]);
      const a2a = { push: { allowPrivateAddresses: true } };
      agents.second = agentWith(upstream, { ...limits(6, 1), mcp: { expose: ['agent', 'tools'] }, a2a });
      expect(await json(service.post('/api/agents/second/reload'))).toMatchObject({
        needRestart: ['mcp', 'a2a'],
      });
    },
  );

  verifies('agents.reload-signal', async () => {
    await using folder = await tempDirectory();
    const said = (reply: string) =>
      JSON.stringify({
        llm: { provider: 'scripted', model: 'offline', script: [{ when: '[^]*', reply }] },
      });
    const write = (name: string, text: string) => writeFile(join(folder.path, name), text);
    await write('support.yml', said('one'));
    await write('sales.yml', said('two'));
    await write(
      'service.yml',
      JSON.stringify({ agents: ['support.yml', { id: 'shop', file: 'sales.yml' }] }),
    );
    const args = ['--config', 'service.yml', '--data-dir', ':memory:', '--log-level', 'info'];
    await using service = await ServiceProcess.listening(args, { cwd: folder.path });
    const say = (agent: string) => json(service.post('/api/message-sync', { message: 'hi', agent }));
    expect(await say('shop')).toMatchObject({ response: 'two' });
    await write('support.yml', 'llm: nothing');
    await write('sales.yml', said('three'));
    service.process.kill('SIGHUP');
    await service.process.stderr(/"agentId":"shop".*the agent was reloaded/);
    expect(await say('shop')).toMatchObject({ response: 'three' });
    expect(await say('support')).toMatchObject({ response: 'one' });
    await service.process.stderr(/"agentId":"support".*the agent was not reloaded, and is as it was/);
    service.process.kill('SIGTERM');
    expect(await service.process.ended).toMatchObject({ code: 0 });
  });
});
