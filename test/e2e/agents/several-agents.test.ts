import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  discoverOAuthProtectedResourceMetadata,
  type OAuthClientProvider,
  selectResourceURL,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { LogBackup, LogCopy } from '../../../src/ports/log-backup.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { OpenAiUpstream } from '../../support/models/openai-upstream.ts';
import { eventually } from '../../support/project/eventually.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, silentLog } from '../../support/service/running-service.ts';
import { ServiceProcess } from '../../support/service/service-process.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { verifies } from '../requirements.ts';

/** An agent that repeats each message, with its own name in front. */
const saying = (name: string): string =>
  JSON.stringify({
    name,
    llm: { provider: 'scripted', model: 'offline', script: [{ when: '([^]*)', reply: `${name}: $1` }] },
  });

const AGENTS = { support: saying('Support'), shop: saying('Shop') };

/** A client that has nothing yet. */
const NO_SIGN_IN: OAuthClientProvider = {
  redirectUrl: undefined,
  clientMetadata: { redirect_uris: [] },
  clientInformation: () => undefined,
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => '',
};

const json = async (response: Response | Promise<Response>): Promise<unknown> => (await response).json();

describe('several agents', () => {
  verifies('agents.list', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    const agentVersion = expect.stringMatching(/^[0-9a-f]{12}$/);
    const model = 'scripted offline';
    expect(await json(service.fetch('/api/agents'))).toMatchObject({
      agents: [
        { agentId: 'support', isDefault: true, name: 'Support', model, agentVersion },
        { agentId: 'shop', isDefault: false, name: 'Shop', model, agentVersion },
      ],
    });
    expect(await json(service.fetch('/agents/shop/api/agent'))).toMatchObject({ name: 'Shop' });
    expect(await json(service.fetch('/agents/shop/api/health'))).toMatchObject({ agent: { name: 'Shop' } });
    expect(await json(service.fetch('/healthz'))).toMatchObject({ agent: { name: 'Support' } });
  });

  verifies('agents.list', 'one agent', async () => {
    await using service = await RunningService.start();
    expect(await json(service.fetch('/api/agents'))).toMatchObject({
      agents: [{ agentId: 'default', isDefault: true, name: 'agent-service' }],
    });
    // A service with one agent has no paths of agents.
    expect((await service.fetch('/agents/default/api/agent')).status).toBe(400);
  });

  verifies(
    'agents.list',
    'one that is left of a list keeps its conversations, and gets none of the others',
    async () => {
      await using folder = await tempDirectory();
      const saidTo = async (service: RunningService): Promise<string> =>
        (await service.fetch('/api/sessions/talk/events')).text();
      {
        await using both = await RunningService.start({ agents: AGENTS, dataDir: folder.path });
        for (const agent of ['support', 'shop'])
          await both.post(`/agents/${agent}/api/message-sync`, {
            message: `for ${agent}`,
            sessionId: 'talk',
          });
      }
      const warned: unknown[] = [];
      const log = { ...silentLog, warn: (fields: object) => warned.push(fields) };
      await using alone = await RunningService.start({
        agents: { shop: AGENTS.shop },
        dataDir: folder.path,
        log,
      });
      expect(await saidTo(alone)).toContain('Shop: for shop');
      expect(await saidTo(alone)).not.toContain('for support');
      expect(warned).toContainEqual({ agentId: 'support' });
    },
  );

  verifies('agents.choose', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    const say = (path: string, more: object = {}) => json(service.post(path, { message: 'hi', ...more }));
    const shop = expect.objectContaining({ response: 'Shop: hi' });
    const support = expect.objectContaining({ response: 'Support: hi' });
    expect(await say('/api/message-sync')).toEqual(support);
    expect(await say('/agents/shop/api/message-sync')).toEqual(shop);
    expect(await say('/api/message-sync?agent=shop')).toEqual(shop);
    expect(await say('/api/message-sync', { agent: 'shop' })).toEqual(shop);
    expect(await say('/api/message-sync', { agent: 'support' })).toEqual(support);
    // The path is the nearest to what is meant.
    expect(await say('/agents/shop/api/message-sync', { agent: 'support' })).toEqual(shop);
    expect(await say('/api/message-sync', { message: '"agent": "shop"' })).toMatchObject({
      response: 'Support: "agent": "shop"',
    });
  });

  verifies('agents.choose', 'in a body, however its media type is written', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    const headers = { 'Content-Type': 'Application/JSON' };
    const say = (agent: string) => service.post('/api/message-sync', { message: 'hi', agent }, headers);
    expect(await json(say('shop'))).toMatchObject({ response: 'Shop: hi' });
    expect(await errorOf(await say('nobody'), 404)).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  verifies('agents.choose', 'WebSocket', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    for (const query of ['agents/shop', 'agents/shop/', '?agent=shop']) {
      using client = await service.connect(query);
      client.say('hi');
      const frames = await client.until((seen) => seen.some(({ event }) => event === 'response'));
      expect(frames.at(-1)).toEqual({ event: 'response', data: { content: 'Shop: hi' } });
    }
    using other = await service.connect();
    other.say('hi');
    await other.until((seen) => seen.some(({ event }) => event === 'response'));
    expect(other.frames.at(-1)).toMatchObject({ data: { content: 'Support: hi' } });
  });

  verifies('agents.choose', 'MCP', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    await using shop = await mcpClient({ url: `${service.url}/agents/shop` });
    await using first = await mcpClient(service);
    expect(await shop.chat('hi')).toBe('Shop: hi');
    expect(await first.chat('hi')).toBe('Support: hi');
    expect(shop.sdk.getServerVersion()).toMatchObject({ title: 'Shop' });
  });

  verifies('agents.choose', 'the first one, also where another one is called default', async () => {
    const mcpServers = { tools: { type: 'stdio', command: 'none' } };
    const other = JSON.stringify({ ...JSON.parse(saying('Other')), mcpServers });
    await using service = await RunningService.start({
      agents: { support: AGENTS.support, default: other },
    });
    await using client = await mcpClient(service);
    expect(await client.chat('hi')).toBe('Support: hi');
    // Only the other agent has this server.
    const executed = await service.post('/api/mcp/servers/tools/tools/pay/execute');
    expect(await errorOf(executed, 404)).toMatchObject({ code: 'SERVER_NOT_FOUND' });
    const byPath = await service.post('/agents/default/api/mcp/servers/tools/tools/pay/execute');
    expect(await errorOf(byPath, 500)).toMatchObject({ code: 'TOOL_EXECUTION_FAILED' });
    // What an answer tells its client to do is to be done at the same agent.
    const ask = { model: 'default', input: 'hi' };
    const first = await json(service.post('/v1/responses', { ...ask, conversation: 'talk' }));
    const deleted = await service.fetch(`/v1/responses/${z.object({ id: z.string() }).parse(first).id}`, {
      method: 'DELETE',
    });
    expect(await deleted.text()).toContain('DELETE /agents/default/api/sessions/talk deletes');
  });

  verifies('agents.unknown', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    const unknown = [
      service.fetch('/agents/nobody/api/sessions'),
      service.fetch('/api/sessions?agent=nobody'),
      service.post('/api/message-sync', { message: 'hi', agent: 'nobody' }),
      service.post('/api/message-sync', { message: 'hi', agent: 7 }),
      service.post('/api/agents/nobody/reload'),
      service.fetch('/?agent=nobody', { headers: { Accept: 'application/json' } }),
    ];
    for (const response of unknown) {
      expect(await errorOf(await response, 404)).toMatchObject({
        code: 'AGENT_NOT_FOUND',
        details: { available: ['support', 'shop'] },
      });
    }
    expect(await json(service.fetch('/agents/shop/api/sessions'))).toMatchObject({ sessions: [] });
  });

  verifies('agents.apart', async () => {
    await using service = await RunningService.start({ agents: AGENTS });
    using watcher = await service.connect();
    await service.post('/agents/shop/api/message-sync', { message: 'secret', sessionId: 'mine' });
    await service.post('/agents/shop/api/message-sync', { message: 'secret' });
    const reply = service.post('/api/message-sync', { message: 'hi' });
    await watcher.until((seen) => seen.some(({ event }) => event === 'response'));
    expect(watcher.frames.map(({ event }) => event)).toEqual(['thinking', 'chunk', 'chunk', 'response']);
    expect((await reply).status).toBe(200);
    const idsOf = async (path: string): Promise<string[]> => {
      const { sessions } = (await json(service.fetch(path))) as { sessions: { sessionId: string }[] };
      return sessions.map(({ sessionId }) => sessionId);
    };
    expect(await idsOf('/api/sessions')).toEqual(['default']);
    expect(await idsOf('/api/sessions?query=secret')).toEqual([]);
    expect(await idsOf('/agents/shop/api/sessions')).toEqual(['default', 'mine']);
    expect((await service.fetch('/api/sessions/mine')).status).toBe(404);
    // The streams of one agent in the log are no sessions of another.
    const inLog = encodeURIComponent('~agent:shop:mine');
    expect((await service.fetch(`/api/sessions/${inLog}`)).status).toBe(400);
  });

  verifies('cli.backup', 'one at a time, whichever agent is asked for it', async () => {
    const copying = Promise.withResolvers<LogCopy>();
    const backup: LogBackup = { backup: () => copying.promise };
    await using service = await RunningService.start({ agents: AGENTS, adapters: { backup } });
    const first = service.post('/agents/support/api/backup');
    const second = service.post('/agents/shop/api/backup');
    // The one that comes later is refused, and the other one waits for the copy.
    const refused = await Promise.race([first, second]);
    expect(await errorOf(refused, 503)).toMatchObject({
      details: { reason: 'another backup is being made' },
    });
    copying.resolve({ file: '/copy', bytes: 1 });
    const statuses = (await Promise.all([first, second])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 503]);
  });

  verifies('agents.restart', async () => {
    await using folder = await tempDirectory();
    const dataDir = folder.path;
    {
      await using before = await RunningService.start({ dataDir });
      await before.post('/api/message-sync', { message: 'from before' });
    }
    {
      await using service = await RunningService.start({ dataDir, agents: AGENTS });
      await service.post('/agents/shop/api/message-sync', { message: 'for the shop' });
      expect(await json(service.fetch('/api/sessions'))).toMatchObject({
        sessions: [{ title: 'from before' }],
      });
    }
    const { support, shop } = AGENTS;
    {
      await using turned = await RunningService.start({ dataDir, agents: { shop, support } });
      expect(await json(turned.fetch('/api/sessions'))).toMatchObject({
        sessions: [{ title: 'for the shop' }],
      });
      expect(await json(turned.fetch('/agents/support/api/sessions'))).toMatchObject({
        sessions: [{ title: 'from before' }],
      });
    }
    const warned: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
    {
      await using renamed = await RunningService.start({ dataDir, agents: { support, store: shop }, log });
      expect(await json(renamed.fetch('/agents/store/api/sessions'))).toMatchObject({ sessions: [] });
    }
    expect(warned).toEqual([{ agentId: 'shop' }]);
    await using alone = await RunningService.start({ dataDir });
    expect(await json(alone.fetch('/api/sessions'))).toMatchObject({ sessions: [{ title: 'from before' }] });
  });

  verifies('agents.recovered', async () => {
    await using upstream = await OpenAiUpstream.listen();
    await using folder = await tempDirectory();
    const write = (name: string, text: string) => writeFile(join(folder.path, name), text);
    const llm = { provider: 'openai', model: 'm', baseURL: upstream.baseURL, apiKey: 'k' };
    await write('support.yml', AGENTS.support);
    await write('shop.yml', JSON.stringify({ llm }));
    await write('service.yml', JSON.stringify({ agents: ['support.yml', 'shop.yml'] }));
    const args = ['--config', 'service.yml', '--data-dir', 'data'];
    upstream.replyWith({ hang: true });
    {
      await using killed = await ServiceProcess.listening(args, { cwd: folder.path });
      await killed.post('/agents/shop/api/message', { message: 'hi' });
      await upstream.request(0);
      killed.process.kill('SIGKILL');
      await killed.process.ended;
    }
    await using service = await ServiceProcess.listening(args, { cwd: folder.path });
    await upstream.request(1);
    const view = () => json(service.fetch('/agents/shop/api/sessions/default'));
    const shown = await eventually(view, (seen) => JSON.stringify(seen).includes('"ok"'));
    expect(shown).toMatchObject({ session: { status: 'idle' } });
    expect(await json(service.fetch('/api/sessions'))).toMatchObject({ sessions: [] });
  });

  verifies('agents.access', async () => {
    const verifier = new KnownTokens({
      ada: identity('ada'),
      bob: identity('bob'),
      root: identity('root', { roles: ['admin'] }),
      cleo: identity('cleo', { tenant: 'orbit', roles: ['admin'] }),
    });
    await using service = await RunningService.start({ agents: AGENTS, verifiers: [verifier] });
    const as = (name: string) => ({ headers: { ...bearer(name), 'Content-Type': 'application/json' } });
    const say = (name: string, agent: string) =>
      service.fetch('/api/message-sync', {
        ...as(name),
        method: 'POST',
        body: JSON.stringify({ message: `of ${name}`, agent }),
      });
    expect(await json(say('ada', 'shop'))).toMatchObject({ response: 'Shop: of ada' });
    expect(await json(say('bob', 'support'))).toMatchObject({ response: 'Support: of bob' });
    const seenBy = async (name: string, agent: string) => {
      const { sessions } = (await json(service.fetch(`/agents/${agent}/api/sessions`, as(name)))) as {
        sessions: { sessionId: string }[];
      };
      return sessions.map(({ sessionId }) => sessionId);
    };
    expect(await seenBy('ada', 'shop')).toEqual(['default']);
    expect(await seenBy('ada', 'support')).toEqual([]);
    expect(await seenBy('bob', 'shop')).toEqual([]);
    expect(await seenBy('root', 'shop')).toEqual(['acme/test:ada/default']);
    expect(await seenBy('cleo', 'shop')).toEqual([]);
    expect((await service.fetch('/agents/shop/api/sessions')).status).toBe(401);
    // Only clients are told which agents there are.
    for (const path of ['/agents/nobody/api/sessions', '/api/sessions?agent=nobody', '/?agent=nobody']) {
      const unknown = await service.fetch(path, { headers: { Accept: 'application/json' } });
      expect((await errorOf(unknown, 404)).details).not.toHaveProperty('available');
    }
    expect(await errorOf(await say('ada', 'nobody'), 404)).toMatchObject({
      details: { available: ['support', 'shop'] },
    });
    const refused = await service.fetch('/agents/shop/mcp', { method: 'POST' });
    expect(refused.headers.get('www-authenticate')).toContain(
      `${service.url}/.well-known/oauth-protected-resource/agents/shop/mcp`,
    );
    const resource = `${service.url}/agents/shop/mcp`;
    for (const path of [
      '/.well-known/oauth-protected-resource/agents/shop/mcp',
      '/agents/shop/.well-known/oauth-protected-resource',
      '/agents/shop/.well-known/oauth-protected-resource/mcp',
    ])
      expect(await json(service.fetch(path))).toMatchObject({ resource, resource_name: 'Shop' });
    // The SDK's client compares the resource with the address that it was given.
    const found = await discoverOAuthProtectedResourceMetadata(resource);
    expect((await selectResourceURL(resource, NO_SIGN_IN, found))?.href).toBe(resource);
    const reload = (name: string) =>
      service.fetch('/api/agents/shop/reload', { ...as(name), method: 'POST' });
    expect((await reload('ada')).status).toBe(403);
    expect(await json(reload('root'))).toMatchObject({ status: 'unchanged' });
  });
});
