import { describe, expect } from 'vitest';
import { z } from 'zod';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService, SCRIPTED, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { withAskingTools } from '../../support/tools/asking-tools.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { postMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}
approval: { rules: [{ server: bank, tool: pay, policy: ask }] }
mcpServers: { bank: { type: stdio, command: none } }
server: { drainTimeoutMs: 0 }
limits: { requestsPerMinute: false }
`;
const PAY = { name: 'pay', callId: 'c1', arguments: { to: 'Ann' } };
const EXTENSION = 'io.modelcontextprotocol/tasks';
const KNOWS_TASKS = { elicitation: { form: {} }, extensions: { [EXTENSION]: {} } };

async function start(options: ServiceOptions = {}) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {} });
  const service = await RunningService.start({
    yaml: YAML,
    adapters: { model, connector: tools },
    ...options,
  });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

const Answer = z.object({
  result: z
    .looseObject({ resultType: z.string(), taskId: z.string().optional(), status: z.string().optional() })
    .optional(),
  error: z.looseObject({ code: z.number() }).optional(),
});

/** A client on the wire: the SDK has none for this extension. */
function tasksOf(
  { port }: RunningService,
  headers: Record<string, string> = {},
  capabilities: object = KNOWS_TASKS,
) {
  const ask = async (method: string, name: string, params: object) => {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    };
    const routing = { 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': method, 'Mcp-Name': name };
    const { text, status } = await postMcp(port, message, { ...routing, ...headers });
    return { status, ...Answer.parse(JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text)) };
  };
  return {
    ask,
    async chat(message: string): Promise<string> {
      const { result } = await ask('tools/call', 'chat_with_agent', {
        name: 'chat_with_agent',
        arguments: { message },
      });
      expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
      return result?.taskId ?? '';
    },
    get: (taskId: string) => ask('tasks/get', taskId, { taskId }),
    until: (taskId: string, status: string) =>
      eventually(
        async () => (await ask('tasks/get', taskId, { taskId })).result,
        (task) => task?.status === status,
      ),
  };
}

describe('a task', () => {
  verifies('mcp.tasks', async () => {
    await using folder = await tempDirectory();
    const first = await start({ dataDir: folder.path });
    const before = tasksOf(first.service);
    const taskId = await before.chat('think');
    const { result } = await before.get(taskId);
    expect(result).toMatchObject({ resultType: 'complete', taskId, status: 'working', pollIntervalMs: 1000 });
    await first.model.call(0);
    await first.service.close();
    await using next = await start({ dataDir: folder.path });
    const after = tasksOf(next.service);
    (await next.model.call(0)).answer('thought');
    expect(await after.until(taskId, 'completed')).toMatchObject({
      result: { content: [{ type: 'text', text: 'thought' }], structuredContent: { reply: 'thought' } },
    });
  });

  verifies('mcp.tasks', 'what a tool server asks is a question of the task', async () => {
    const model = new DirectedModel();
    const yaml = YAML.replace('mcpServers: {', 'mcpServers: { asking: { command: none },');
    const connector = withAskingTools(new DirectedTools({ pay: {} }));
    await using service = await RunningService.start({ yaml, adapters: { model, connector } });
    const client = tasksOf(service);
    const taskId = await client.chat('order tea');
    (await model.call(0)).askFor({ name: 'order_tea', callId: 'c1', arguments: {} });
    const { inputRequests, statusMessage } = Object(await client.until(taskId, 'input_required'));
    expect(statusMessage).toContain('The tool order_tea asks: Which tea?');
    const [key = ''] = Object.keys(inputRequests);
    expect(key).toMatch(/^input:c1\./);
    const inputResponses = { [key]: { action: 'accept', content: { size: 'small' } } };
    await client.ask('tasks/update', taskId, { taskId, inputResponses });
    const next = await model.call(1);
    expect(JSON.stringify(next.request.messages.at(-1))).toContain('small');
    next.answer('ordered');
    await client.until(taskId, 'completed');
  });

  verifies('mcp.tasks', 'asks for an approval, and goes on when it has it', async () => {
    await using setup = await start();
    const client = tasksOf(setup.service);
    const taskId = await client.chat('pay Ann');
    (await setup.model.call(0)).askFor(PAY);
    const waiting = await client.until(taskId, 'input_required');
    expect(waiting).toMatchObject({ inputRequests: { 'approval:c1': { method: 'elicitation/create' } } });
    const inputResponses = {
      'approval:c1': { action: 'accept', content: { approve: true } },
      unknown: { action: 'accept' },
    };
    const { result } = await client.ask('tasks/update', taskId, { taskId, inputResponses });
    expect(result).toMatchObject({ resultType: 'complete' });
    expect(result).not.toHaveProperty('status');
    (await setup.tools.call(0)).answer('paid');
    (await setup.model.call(1)).answer('done');
    expect(await client.until(taskId, 'completed')).toMatchObject({
      result: { structuredContent: { reply: 'done' } },
    });
    const again = await client.ask('tasks/update', taskId, { taskId, inputResponses });
    expect(again.result?.resultType).toBe('complete');
  });

  verifies('mcp.tasks', 'can be cancelled; a turn that failed is a result', async () => {
    await using setup = await start();
    const client = tasksOf(setup.service);
    const taskId = await client.chat('think');
    const running = await setup.model.call(0);
    expect((await client.ask('tasks/cancel', taskId, { taskId })).result?.resultType).toBe('complete');
    await running.aborted;
    await client.until(taskId, 'cancelled');
    expect((await client.ask('tasks/cancel', taskId, { taskId })).result?.resultType).toBe('complete');
    const failing = await client.chat('fail');
    (await setup.model.call(1)).fail(new Error('broken'));
    expect(await client.until(failing, 'completed')).toMatchObject({ result: { isError: true } });
  });

  verifies('mcp.tasks', 'of somebody else is not found', async () => {
    const tokens = new KnownTokens({ ada: identity('ada'), bob: identity('bob') });
    await using setup = await start({ verifiers: [tokens] });
    const ada = tasksOf(setup.service, bearer('ada'));
    const taskId = await ada.chat('mine');
    (await setup.model.call(0)).answer('yours');
    await ada.until(taskId, 'completed');
    const bob = tasksOf(setup.service, bearer('bob'));
    for (const [method, more] of [
      ['tasks/get', {}],
      ['tasks/update', { inputResponses: {} }],
      ['tasks/cancel', {}],
    ] as const) {
      const { error } = await bob.ask(method, taskId, { taskId, ...more });
      expect(error).toMatchObject({ code: -32602, message: 'Task not found' });
    }
    for (const id of ['nothing', 'a~b~c']) expect((await ada.get(id)).error?.code).toBe(-32602);
  });

  verifies('mcp.tasks', 'that is shared for reading is not changed, with the reason', async () => {
    const tokens = new KnownTokens({ ada: identity('ada'), bob: identity('bob') });
    await using setup = await start({ verifiers: [tokens] });
    const own = tasksOf(setup.service, bearer('ada'));
    const { result } = await own.ask('tools/call', 'chat_with_agent', {
      name: 'chat_with_agent',
      arguments: { message: 'pay Ann', sessionId: 'trip' },
    });
    const taskId = result?.taskId ?? '';
    (await setup.model.call(0)).askFor(PAY);
    await own.until(taskId, 'input_required');
    const grant = { principal: 'test:bob', access: 'read' };
    const shared = await setup.service.post('/api/sessions/trip/grants', grant, bearer('ada'));
    expect(shared.status).toBe(200);
    const bob = tasksOf(setup.service, bearer('bob'));
    const shownTo = taskId.replace(/trip$/, 'acme/test:ada/trip');
    expect((await bob.get(shownTo)).result).toMatchObject({ status: 'input_required' });
    const inputResponses = { 'approval:c1': { action: 'accept', content: { approve: true } } };
    for (const [method, issue] of [
      ['tasks/update', 'it is not shared for: approve'],
      ['tasks/cancel', 'it is not shared for: talk'],
    ] as const) {
      const { error } = await bob.ask(method, shownTo, { taskId: shownTo, inputResponses });
      expect(error).toMatchObject({ code: -32600, data: { access: ['read'], issue } });
    }
  });

  verifies('mcp.tasks', 'is for clients that know the extension alone', async () => {
    await using setup = await start();
    const client = tasksOf(setup.service, {}, {});
    expect(await client.get('x~default~y')).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } } },
    });
    const answer = client.ask('tools/call', 'chat_with_agent', {
      name: 'chat_with_agent',
      arguments: { message: 'hello' },
    });
    (await setup.model.call(0)).answer('hi');
    expect((await answer).result).toMatchObject({ resultType: 'complete' });
  });
});
