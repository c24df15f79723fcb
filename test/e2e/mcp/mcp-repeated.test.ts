import { text } from 'node:stream/consumers';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { chatCall, eventsOf, resumableSession, resumed } from '../../support/tools/mcp/resumed-stream.ts';
import { openMcp } from '../../support/tools/mcp-http.ts';
import { Chat, statelessClient } from '../../support/tools/stateless-client.ts';
import { verifies } from '../requirements.ts';

const YAML = `${SCRIPTED}
approval: { rules: [{ server: bank, tool: pay, policy: ask }] }
mcpServers: { bank: { type: stdio, command: none } }
server: { drainTimeoutMs: 0 }
limits: { requestsPerMinute: false }
`;
const KEY = 'agent-service/idempotencyKey';
const PAY = { name: 'pay', callId: 'c1', arguments: { to: 'Ann' } };

const keyed = (message: string, key = 'k1') => ({
  name: 'chat_with_agent',
  arguments: { message },
  _meta: { [KEY]: key },
});

async function start(dataDir?: string) {
  const model = new DirectedModel();
  const tools = new DirectedTools({ pay: {} });
  const adapters = { model, connector: tools };
  const service = await RunningService.start({ yaml: YAML, adapters, ...(dataDir && { dataDir }) });
  return { model, tools, service, [Symbol.asyncDispose]: () => service.close() };
}

describe('a call of chat_with_agent with a key', () => {
  verifies('mcp.repeated', 'while it is answered and later, also without a session', async () => {
    await using setup = await start();
    await using client = await statelessClient(setup.service);
    const first = client.sdk.callTool(keyed('hello'));
    const call = await setup.model.call(0);
    await using other = await statelessClient(setup.service);
    const second = other.sdk.callTool(keyed('hello'));
    call.answer('Hello.');
    const answer = Chat.parse((await first).structuredContent);
    expect(answer.reply).toBe('Hello.');
    expect((await second).structuredContent).toEqual(answer);
    // Also when it is over.
    expect((await other.sdk.callTool(keyed('hello'))).structuredContent).toEqual(answer);
    expect(setup.model.calls).toHaveLength(1);
  });

  verifies(
    'mcp.repeated',
    'the key of another message is refused, and so is one that cannot be a key',
    async () => {
      await using setup = await start();
      await using client = await statelessClient(setup.service);
      const answer = client.sdk.callTool(keyed('hello'));
      (await setup.model.call(0)).answer('Hello.');
      await answer;
      expect(await client.sdk.callTool(keyed('bye'))).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('idempotency key') }],
      });
      await expect(client.sdk.callTool(keyed('hello', 'no spaces'))).rejects.toMatchObject({
        code: -32602,
        data: { field: `_meta.${KEY}` },
      });
      expect(setup.model.calls).toHaveLength(1);
    },
  );

  verifies('mcp.repeated', 'after the service was stopped in the middle, and started again', async () => {
    await using directory = await tempDirectory();
    const before = await start(directory.path);
    await using left = await statelessClient(before.service);
    const lost = expect(left.sdk.callTool(keyed('hello'))).rejects.toThrow();
    await before.model.call(0);
    await before.service.close();
    // The SDK waits on, also on a stream that has ended.
    await left.sdk.close();
    await lost;
    await using after = await start(directory.path);
    (await after.model.call(0)).answer('Hello again.');
    await using client = await statelessClient(after.service);
    expect(await client.sdk.callTool(keyed('hello'))).toMatchObject({
      content: [{ text: 'Hello again.' }],
    });
    expect(after.model.calls).toHaveLength(1);
  });

  verifies('mcp.repeated', 'the stream of the repeated call is resumed after a restart', async () => {
    await using directory = await tempDirectory();
    const before = await start(directory.path);
    const session = await resumableSession(before.service.port);
    const said = (id: number) => {
      const call = chatCall(id, 'hello', { sessionId: 'trip' });
      return { ...call, params: { ...call.params, _meta: { ...call.params._meta, [KEY]: 'k1' } } };
    };
    const ask = (id: number) => openMcp(before.service.port, 'POST', session, said(id)).then(text);
    const first = ask(2);
    (await before.model.call(0)).answer('Hello.');
    await first;
    const [priming] = eventsOf(await ask(3));
    await before.service.close();
    await using after = await start(directory.path);
    const { port } = after.service;
    const rest = await resumed(port, await resumableSession(port), priming?.id ?? '');
    expect(eventsOf(await rest.body).at(-1)?.message).toMatchObject({
      id: 3,
      result: { structuredContent: { reply: 'Hello.', sessionId: 'trip' } },
    });
  });

  verifies(
    'mcp.repeated',
    'a client of the older era is asked again for the approval that its turn waits for',
    async () => {
      await using setup = await start();
      const older = new OlderClient({ name: 'older', version: '1' }, { capabilities: { elicitation: {} } });
      const isAsked = Promise.withResolvers<void>();
      let asked = 0;
      older.setRequestHandler(ElicitRequestSchema, async () => {
        asked += 1;
        isAsked.resolve();
        // The first question stays open, as after a connection that was lost.
        if (asked === 1) await new Promise(() => undefined);
        return { action: 'accept', content: { approve: true } };
      });
      await older.connect(new StreamableHTTPClientTransport(new URL(`${setup.service.url}/mcp`)));
      const first = older.callTool(keyed('pay Ann'));
      (await setup.model.call(0)).askFor(PAY);
      await isAsked.promise;
      const second = older.callTool(keyed('pay Ann'));
      (await setup.tools.call(0)).answer('paid');
      (await setup.model.call(1)).answer('Ann is paid.');
      for (const answer of [first, second])
        expect(await answer).toMatchObject({ content: [{ text: 'Ann is paid.' }] });
      expect([asked, setup.tools.calls.length, setup.model.calls.length]).toEqual([2, 1, 2]);
      await older.close();
    },
  );
});
