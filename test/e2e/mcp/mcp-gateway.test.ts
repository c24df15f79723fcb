import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { RunningService } from '../../support/service/running-service.ts';
import {
  type ClientEra,
  fixtureServer,
  gatewayClient,
  type ServerEra,
  startGateway,
} from '../../support/tools/gateway.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

const FORMS = { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } };
const ECHO = { name: 'echo', arguments: { message: 'hi' } };

const eras = (['legacy', 'modern'] as const).flatMap((client) =>
  (['sessions', 'stateless'] as const).map((server) => [client, server] as const),
);

describe.each(eras)('a %s client and a tool server with %s', (clientEra, serverEra) => {
  verifies('mcp.gateway', async () => {
    await using service = await startGateway({ fixtures: fixtureServer(serverEra) });
    await using client = await gatewayClient(service.url, clientEra);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['chat_with_agent', 'test_simple_text', 'json_schema_2020_12_tool']),
    );
    const { content } = await client.callTool({ name: 'test_multiple_content_types', arguments: {} });
    expect(content).toMatchObject([{ type: 'text' }, { type: 'image' }, { type: 'resource' }]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['agent://card', 'test://static-text']),
    );
    const { contents } = await client.readResource({ uri: 'test://template/7/data' });
    expect(contents).toMatchObject([{ text: expect.stringContaining('Data for ID: 7') }]);
    const prompt = await client.getPrompt({
      name: 'test_prompt_with_arguments',
      arguments: { arg1: 'a', arg2: 'b' },
    });
    expect(prompt.messages).toMatchObject([{ content: { text: expect.stringContaining("arg1='a'") } }]);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'par' },
    });
    expect(completion.values).toEqual(['paris', 'park', 'party']);
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 });
  });

  verifies('mcp.gateway-questions', async () => {
    await using service = await startGateway({ fixtures: fixtureServer(serverEra) });
    await using client = await gatewayClient(service.url, clientEra, FORMS);
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: 'accept',
      content:
        'requestedSchema' in params && params.message.includes('name') ? { name: 'Ada' } : { color: 'red' },
    }));
    client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant',
      model: 'of the client',
      content: { type: 'text', text: 'forty-two' },
    }));
    const named = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} });
    expect(named.content).toEqual([{ type: 'text', text: 'Hello, Ada!' }]);
    const sampled = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'x' } });
    expect(sampled.content).toEqual([{ type: 'text', text: 'LLM response: forty-two' }]);
    const rounds = await client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
    expect(rounds.content).toEqual([{ type: 'text', text: 'Multi-round complete' }]);
  });
});

describe('tools of several servers', () => {
  verifies('mcp.gateway', async () => {
    await using service = await startGateway({ one: scriptableServer(), two: scriptableServer() });
    await using client = await gatewayClient(service.url, 'modern');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('one__echo');
    expect(names).toContain('two__echo');
    expect(names).not.toContain('echo');
    const { content } = await client.callTool({ ...ECHO, name: 'two__echo' });
    expect(JSON.stringify(content)).toContain('hi');
  });

  verifies('mcp.gateway', 'nothing passes through unless the agent file says so', async () => {
    await using service = await RunningService.start();
    await using client = await gatewayClient(service.url, 'modern');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(['chat_with_agent', 'reset_conversation']);
  });
});

const RULES = `approval: {rules: [{server: tools, tool: echo, policy: ask}, {server: tools, tool: "slow*", policy: deny}]}`;

describe.each(['legacy', 'modern'] as const)('a tool with an approval rule, for a %s client', (era) => {
  async function asked(answer: { action: 'accept' | 'decline'; content?: { approve: boolean } }) {
    await using service = await startGateway({ tools: scriptableServer() }, { more: RULES });
    await using client = await gatewayClient(service.url, era, FORMS);
    const questions: string[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message);
      return answer;
    });
    return { ...(await client.callTool(ECHO)), questions };
  }

  verifies('mcp.gateway-approval', async () => {
    const approved = await asked({ action: 'accept', content: { approve: true } });
    expect(approved.isError ?? false).toBe(false);
    expect(JSON.stringify(approved.content)).toContain('hi');
    expect(approved.questions).toEqual([expect.stringContaining('{"message":"hi"}')]);
    expect(await asked({ action: 'accept', content: { approve: false } })).toMatchObject({ isError: true });
    expect(await asked({ action: 'decline' })).toMatchObject({ isError: true });
  });

  verifies(
    'mcp.gateway-approval',
    'a client that cannot be asked is told so, and a denied tool is not there',
    async () => {
      await using service = await startGateway({ tools: scriptableServer() }, { more: RULES });
      await using client = await gatewayClient(service.url, era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('echo');
      expect(tools.filter(({ name }) => name.startsWith('slow'))).toEqual([]);
      const { isError, content } = await client.callTool(ECHO);
      expect(isError).toBe(true);
      expect(JSON.stringify(content)).toContain('elicitation');
    },
  );
});

verifies('mcp.gateway-approval', 'a client that does not answer in time does not get the call', async () => {
  const more = RULES.replace('{', '{expiresAfterMs: 50, ');
  await using service = await startGateway({ tools: scriptableServer() }, { more });
  await using client = await gatewayClient(service.url, 'legacy', FORMS);
  const withdrawn = Promise.withResolvers<void>();
  client.setRequestHandler('elicitation/create', async (_, { mcpReq }) => {
    mcpReq.signal.addEventListener('abort', () => withdrawn.resolve());
    await withdrawn.promise;
    return { action: 'cancel' };
  });
  const { isError, content } = await client.callTool(ECHO);
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('nobody approved it within 50 milliseconds');
  await withdrawn.promise;
});

describe('a client that declares no answers', () => {
  verifies(
    'mcp.gateway-questions',
    'the server is refused at once, and others can still be asked',
    async () => {
      await using service = await startGateway({ tools: scriptableServer() });
      await using client = await gatewayClient(service.url, 'modern');
      await using other = await gatewayClient(service.url, 'modern', FORMS);
      other.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
      const params = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
      const call = { name: 'ask', arguments: { method: 'elicitation/create', params } };
      // The server learns the code of JSON-RPC for a method that its client does not know.
      expect((await client.callTool(call)).content).toEqual([{ type: 'text', text: '-32601' }]);
      const answered = await other.callTool(call);
      expect(answered.content).toEqual([{ type: 'text', text: '{"action":"decline"}' }]);
    },
  );
});

/** A call of a tool as it is on the wire, for what the client of the SDK does by itself. */
async function rawCall(url: string, name: string, params: { name: string } & Record<string, unknown>) {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...bearer(name),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': params.name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        arguments: {},
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': FORMS.capabilities,
        },
      },
    }),
  });
  return Answer.parse(await response.json());
}

const Answer = z.object({
  error: z.object({ code: z.int(), message: z.string() }).optional(),
  result: z
    .looseObject({
      inputRequests: z.record(z.string(), z.unknown()).default({}),
      requestState: z.string().optional(),
    })
    .optional(),
});

describe('a call that waits for the answer of its client', () => {
  verifies('mcp.gateway-questions', async () => {
    const operator = { roles: ['operator'] };
    const tokens = new KnownTokens({ ann: identity('ann', operator), bob: identity('bob', operator) });
    const options = { apiKeys: true, verifiers: [tokens] };
    await using service = await startGateway({ fixtures: fixtureServer('sessions') }, options);
    const call = { name: 'test_input_required_result_elicitation' };
    const first = (await rawCall(service.url, 'ann', call)).result;
    const [key = ''] = Object.keys(first?.inputRequests ?? {});
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Ada' } } };
    const requestState = first?.requestState;
    const stolen = await rawCall(service.url, 'bob', { ...call, inputResponses, requestState });
    expect(stolen.error).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') });
    const again = await rawCall(service.url, 'ann', { ...call, inputResponses: {}, requestState });
    expect(again.result?.inputRequests).toEqual(first?.inputRequests);
    const state = again.result?.requestState;
    const done = await rawCall(service.url, 'ann', { ...call, inputResponses, requestState: state });
    expect(done.result).toMatchObject({ content: [{ type: 'text', text: 'Hello, Ada!' }] });
    const late = await rawCall(service.url, 'ann', { ...call, inputResponses, requestState: state });
    expect(late.error?.code).toBe(-32602);
  });
});

describe.each(eras)('changes, for a %s client and a tool server with %s', (clientEra, serverEra) => {
  verifies('mcp.gateway-changes', () => changes(clientEra, serverEra));
});

async function changes(clientEra: ClientEra, serverEra: ServerEra): Promise<void> {
  await using service = await startGateway({ fixtures: fixtureServer(serverEra) });
  await using client = await gatewayClient(service.url, clientEra);
  const heard: string[] = [];
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => void heard.push('prompts'));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  );
  const uri = 'test://watched-resource';
  if (clientEra === 'legacy') await client.subscribeResource({ uri });
  else
    await client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] });
  for (const change of ['tool_change', 'prompt_change', 'resource_update'])
    await client.callTool({ name: `test_trigger_${change}`, arguments: {} });
  await expect.poll(() => [...new Set(heard)].sort()).toEqual(['prompts', uri, 'tools']);
}

describe('a resource that clients of both eras watch', () => {
  verifies('mcp.gateway-unwatched', async () => {
    await using service = await startGateway({ fixtures: fixtureServer('sessions') });
    await using older = await gatewayClient(service.url, 'legacy');
    await using modern = await gatewayClient(service.url, 'modern');
    const uri = 'test://watched-resource';
    const isWatched = async (): Promise<boolean> => {
      const { content } = await older.callTool({ name: 'test_trigger_resource_update', arguments: {} });
      return JSON.stringify(content).includes('"watched"');
    };
    await older.subscribeResource({ uri });
    expect(await isWatched()).toBe(true);
    const leaving = await gatewayClient(service.url, 'legacy');
    await leaving.subscribeResource({ uri });
    const listening = await modern.listen({ resourceSubscriptions: [uri] });
    await older.unsubscribeResource({ uri });
    await listening.close();
    expect(await isWatched()).toBe(true);
    await terminated(leaving);
    await expect.poll(isWatched).toBe(false);
    const again = await modern.listen({ resourceSubscriptions: [uri] });
    await expect.poll(isWatched).toBe(true);
    await again.close();
    await expect.poll(isWatched).toBe(false);
  });
});

/** Ends the session of a client of the older era. */
async function terminated({ transport }: Client): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
}
