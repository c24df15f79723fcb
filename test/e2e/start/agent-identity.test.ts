// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the agent file holds references
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { readPackageVersion } from '../../../src/app/package-root.ts';
import { AgentResponse } from '../../../src/wire/responses.ts';
import { Timestamp } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { serverWith } from '../../support/tools/tool-server-client.ts';
import { verifies } from '../requirements.ts';

const isTimestamp = expect.toSatisfy((value) => Timestamp.safeParse(value).success);

async function described(service: RunningService): Promise<AgentResponse> {
  const response = await service.fetch('/api/agent');
  expect(response.status).toBe(200);
  return AgentResponse.parse(await response.json());
}

describe('GET /api/agent', () => {
  verifies('agent.describe', async () => {
    const yaml = JSON.stringify({
      name: '$TEAM helper',
      description: 'Answers questions about orders.',
      suggestions: ['Where is my order?', 'List the open orders'],
      systemPrompt: 'You work for $TEAM and cost $$5. Docs: https://me:hunter2@docs.example.com/',
      llm: { provider: 'scripted', model: '${MODEL:-offline}', apiKey: '$SECRET' },
      mcpServers: { tools: { ...scriptableServer(), env: { TOKEN: 'hunter2' } } },
      approval: { rules: [{ server: 'tools', tool: 'echo', policy: 'ask' }], default: 'auto' },
    });
    await using service = await RunningService.start({
      yaml,
      environment: { TEAM: 'Sales', SECRET: 'hunter2' },
    });
    await serverWith(service, 'tools', 'connected');
    const agent = await described(service);
    expect(agent).toEqual({
      name: 'Sales helper',
      description: 'Answers questions about orders.',
      model: { provider: 'scripted', name: 'offline' },
      systemPrompt: 'You work for $TEAM and cost $5. Docs: https://***REDACTED***@docs.example.com/',
      tools: expect.any(Array),
      suggestions: ['Where is my order?', 'List the open orders'],
      maxImageBytes: 10 * 1024 * 1024,
      timestamp: isTimestamp,
    });
    const policies = new Map(agent.tools.map(({ name, policy }) => [name, policy]));
    expect(policies.get('echo')).toBe('ask');
    expect(new Set(policies.values())).toEqual(new Set(['ask', 'auto']));
    for (const { serverId } of agent.tools) expect(serverId).toBe('tools');
    expect(JSON.stringify(agent)).not.toContain('hunter2');
  });

  verifies('agent.describe', 'an agent file that says nothing about the agent has defaults', async () => {
    await using service = await RunningService.start();
    expect(await described(service)).toEqual({
      name: 'agent-service',
      model: { provider: 'scripted', name: 'offline' },
      systemPrompt: 'You are a helpful assistant.',
      tools: [],
      suggestions: ['Hello!', 'What can you do?', 'Which tools do you have?'],
      maxImageBytes: 10 * 1024 * 1024,
      timestamp: isTimestamp,
    });
    const yaml = `${SCRIPTED}suggestions: []\nlimits: {requestBytes: false}\n`;
    await using silent = await RunningService.start({ yaml });
    const agent = await described(silent);
    expect(agent.suggestions).toEqual([]);
    expect(agent).not.toHaveProperty('maxImageBytes');
  });
});

const Card = z.tuple([z.object({ text: z.string().transform((text) => JSON.parse(text)) })]);

describe('the name of an agent', () => {
  const yaml = `${SCRIPTED}name: Order helper\ndescription: Answers questions about orders.\n`;

  verifies('agent.name', async () => {
    await using service = await RunningService.start({ yaml });
    const health = z.object({ agent: z.unknown() }).parse(await (await service.fetch('/api/health')).json());
    expect(health.agent).toEqual({
      name: 'Order helper',
      description: 'Answers questions about orders.',
      status: 'ready',
      connectedServers: 0,
    });
    const index = await service.fetch('/', { headers: { Accept: 'text/plain' } });
    expect(await index.text()).toContain('Order helper');
  });

  for (const mode of ['web', 'mcp'] as const) {
    verifies('agent.name', `an MCP client learns it in ${mode} mode`, async () => {
      await using service = await RunningService.start({ yaml, mode });
      await using client = await mcpClient(service);
      expect(client.sdk.getServerVersion()).toEqual({
        name: 'Order helper',
        title: 'Order helper',
        description: 'Answers questions about orders.',
        version: readPackageVersion(),
      });
      expect(client.sdk.getInstructions()).toBe(
        'Order helper: Answers questions about orders. An AI agent (scripted offline). Talk to it with the tool chat_with_agent.',
      );
      const { contents } = await client.sdk.readResource({ uri: 'agent://card' });
      const [{ text: card }] = Card.parse(contents);
      expect(card).toMatchObject({ name: 'Order helper', description: 'Answers questions about orders.' });
    });
  }
});
