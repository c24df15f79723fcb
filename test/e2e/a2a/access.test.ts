import { describe, expect } from 'vitest';
import { AgentCard } from '../../../src/gateway/a2a/agent-card.ts';
import { BINDINGS, listed, message, replyOf, taskFor } from '../../support/a2a/a2a-client.ts';
import { A2A_AGENT, A2aRig } from '../../support/a2a/a2a-rig.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { verifies } from '../requirements.ts';

const CARD = '/.well-known/agent-card.json';

const verifiers = [
  new KnownTokens({
    ann: identity('ann'),
    bob: identity('bob'),
    reader: identity('ann', { scopes: new Set(['sessions:read']) }),
    writer: identity('ann', { scopes: new Set(['sessions:read', 'sessions:write']) }),
  }),
];

describe('the card of an agent', () => {
  verifies('a2a.card', async () => {
    await using rig = await A2aRig.start();
    const shown = await rig.service.fetch(CARD);
    const card = await shown.json();
    const url = `${rig.service.url}/a2a`;
    expect(card).toMatchObject({
      name: 'Shop',
      description: 'Sells and buys.',
      supportedInterfaces: [
        { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
      securityRequirements: [],
      skills: [{ id: 'conversation' }, { id: 'bank.pay', name: 'pay', tags: ['tool', 'bank'] }],
    });
    const etag = shown.headers.get('ETag') ?? '';
    expect(shown.headers.get('Cache-Control')).toBe('public, max-age=60');
    const again = await rig.service.fetch(CARD, { headers: { 'If-None-Match': `W/${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const named = await rig.service.fetch(CARD, { headers: { Host: `localhost:${rig.service.port}` } });
    expect(named.headers.get('ETag')).toBe(etag);
  });

  verifies('a2a.card', 'with a public URL, and only in web mode', async () => {
    const server = { publicUrl: 'https://agents.example.com/shop/' };
    await using rig = await A2aRig.start({ yaml: JSON.stringify({ ...A2A_AGENT, server }) });
    const card = AgentCard.parse(await (await rig.service.fetch(CARD)).json());
    expect(card.supportedInterfaces[0]?.url).toBe('https://agents.example.com/shop/a2a');
    await using mcp = await A2aRig.start({ mode: 'mcp' });
    expect((await mcp.service.fetch(CARD)).status).toBe(400);
  });

  verifies('a2a.agents', async () => {
    const yaml = (name: string) => {
      const script = [{ when: '^hello$', reply: `${name} is here.` }];
      return JSON.stringify({ ...A2A_AGENT, name, llm: { ...A2A_AGENT.llm, script } });
    };
    const agents = { shop: yaml('Shop'), help: yaml('Help') };
    await using rig = await A2aRig.start({ agents, adapters: {} });
    const shop = await rig.client('HTTP+JSON');
    const help = await rig.client('JSONRPC', { path: '/agents/help/' });
    for (const path of [`/agents/help${CARD}`, `${CARD}?agent=help`]) {
      const card = await (await rig.service.fetch(path)).json();
      expect(card).toMatchObject({
        name: 'Help',
        supportedInterfaces: [{ url: `${rig.service.url}/agents/help/a2a` }, {}],
      });
    }
    const { id } = await taskFor(help, message('hello', { contextId: 'same' }));
    expect(replyOf(await help.getTask({ tenant: '', id }))).toBe('Help is here.');
    await expect(shop.getTask({ tenant: '', id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    const sold = await taskFor(shop, message('hello', { contextId: 'same' }));
    expect([sold.id, replyOf(sold)]).toEqual([expect.stringContaining('~shop~same'), 'Shop is here.']);
    expect(await shop.listTasks(listed({ contextId: 'same' }))).toMatchObject({ totalSize: 1 });
  });
});

describe.each(BINDINGS)('clients who are authenticated, over %s', (binding) => {
  verifies('a2a.access', binding, async () => {
    const issuer = 'https://id.example.com/';
    const auth = { jwt: [{ name: 'corp', issuer, audience: 'shop' }] };
    await using rig = await A2aRig.start({ verifiers, auth });
    const card = AgentCard.parse(await (await rig.service.fetch(CARD)).json());
    expect(card.skills).toMatchObject([{ id: 'conversation' }]);
    expect(card.skills).toHaveLength(1);
    expect(card.securitySchemes).toMatchObject({
      bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
      'oidc-corp': {
        openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}.well-known/openid-configuration` },
      },
    });
    const stranger = await rig.client(binding);
    await expect(taskFor(stranger, message('hello'))).rejects.toThrow('credentials');
    const ann = await rig.client(binding, { token: 'test-ann' });
    expect((await ann.getAgentCard()).skills.map(({ id }) => id)).toEqual(['conversation', 'bank.pay']);

    const asking = taskFor(ann, message('hello', { contextId: 'trip' }));
    (await rig.model.call(0)).answer('Hello Ann.');
    const { id } = await asking;
    expect(id).toContain('~trip');
    const bob = await rig.client(binding, { token: 'test-bob' });
    for (const denied of [
      () => bob.getTask({ tenant: '', id }),
      () => bob.cancelTask({ tenant: '', id, metadata: {} }),
      () => bob.resubscribeTask({ tenant: '', id }).next(),
      () => taskFor(bob, message('hello', { taskId: id })),
    ])
      await expect(denied()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    const own = taskFor(bob, message('hello', { contextId: 'trip' }));
    const call = await rig.model.call(1);
    expect(call.request.messages).toHaveLength(1);
    call.answer('Hello Bob.');
    await own;

    const reader = await rig.client(binding, { token: 'test-reader' });
    expect(replyOf(await reader.getTask({ tenant: '', id }))).toBe('Hello Ann.');
    await expect(taskFor(reader, message('hello'))).rejects.toThrow('sessions:write');
  });

  verifies('a2a.access', `an approval needs its scope, ${binding}`, async () => {
    await using rig = await A2aRig.start({ verifiers });
    const writer = await rig.client(binding, { token: 'test-writer' });
    const asking = taskFor(writer, message('pay the bill'));
    (await rig.model.call(0)).askFor({ name: 'pay', callId: 'c1' });
    const { id: taskId } = await asking;
    const approving = taskFor(writer, message('approve', { taskId }));
    await expect(approving).rejects.toThrow('approvals:decide');
    const { status } = await rig.service.fetch('/a2a/tasks', {
      headers: { ...bearer('nobody'), 'A2A-Version': '1.0' },
    });
    expect(status).toBe(401);
  });
});
