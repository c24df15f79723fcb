import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type ClientCapabilities,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { eventually } from '../../support/project/eventually.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { viewOf } from '../../support/sessions/session-api.ts';
import { SHOP, TEA, withAskingTools } from '../../support/tools/asking-tools.ts';
import { statelessClient } from '../../support/tools/stateless-client.ts';
import { verifies } from '../requirements.ts';

/* The tool server is the test's; its questions are those of a real one. */

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline', script: [{ when: '^hello$', reply: 'Assam' }] },
  mcpServers: { asking: { command: 'none', sampling: { policy: 'ask', maxRequests: 1 } } },
});
const start = () => RunningService.start({ yaml: YAML, adapters: { connector: withAskingTools() } });
const chat = (message: string) => ({ name: 'chat_with_agent', arguments: { message } });

/** A client of the older era with these capabilities. */
async function olderClient(
  { url }: RunningService,
  capabilities: ClientCapabilities = {},
): Promise<OlderClient> {
  const client = new OlderClient({ name: 'older', version: '1' }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return client;
}

/** Resolves to the question that waits in the only session. */
async function waitingInput(service: RunningService) {
  const read = async (): Promise<{ inputs: { sessionId: string; inputId: string }[] }> =>
    Object(await (await service.fetch('/api/inputs')).json());
  const { inputs } = await eventually(read, ({ inputs: { length } }) => length > 0);
  const [input] = inputs;
  if (!input) throw new Error('nothing waits');
  return input;
}

describe('what a tool server asks in a turn of an MCP client', () => {
  verifies('mcp.questions', async () => {
    await using service = await start();
    await using client = await statelessClient(service, { capabilities: { elicitation: { form: {} } } });
    const asked: unknown[] = [];
    client.sdk.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params);
      // The service finds the first one wrong, and asks again.
      return { action: 'accept', content: { size: asked.length === 1 ? 'huge' : 'large' } };
    });
    const { reply, sessionId } = await client.chat('use order_tea {}');
    const question = {
      message: `The tool order_tea asks: ${TEA.message}`,
      requestedSchema: TEA.requestedSchema,
    };
    expect(asked).toMatchObject([question, question]);
    expect(reply).toContain('{"action":"accept","content":{"size":"large","hot":true}}');
    expect(await viewOf(service, sessionId)).toMatchObject({ status: 'idle' });
  });

  verifies('mcp.questions', 'a client of the older era, while its call goes on', async () => {
    await using service = await start();
    const client = await olderClient(service, { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
    expect(JSON.stringify(await client.callTool(chat('use order_tea {}')))).toContain(
      String.raw`\"action\":\"decline\"`,
    );
    await client.close();
  });

  verifies('mcp.questions', 'whether the server may ask the model', async () => {
    await using service = await start();
    await using client = await statelessClient(service, { capabilities: { elicitation: { form: {} } } });
    const asked: string[] = [];
    client.sdk.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { approve: asked.length === 1 } };
    });
    expect((await client.chat('use name_tea {}')).reply).toContain('Assam');
    expect((await client.chat('use name_tea {}')).reply).not.toContain('Assam');
    expect(asked).toEqual([expect.stringContaining('hello'), expect.stringContaining('hello')]);
  });

  verifies('mcp.questions', 'to visit an address', async () => {
    await using service = await start();
    const client = await olderClient(service, { elicitation: { url: {} } });
    const asked: unknown[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params);
      return { action: 'accept' };
    });
    const visited = await client.callTool(chat('use visit_tea {}'));
    expect(JSON.stringify(visited)).toContain(String.raw`\"action\":\"accept\"`);
    expect(asked).toMatchObject([{ mode: 'url', url: SHOP.url, elicitationId: expect.any(String) }]);
    await client.close();
  });

  verifies('mcp.questions', 'a client that cannot ask is told who can answer', async () => {
    await using service = await start();
    const client = await olderClient(service);
    const told = Promise.withResolvers<unknown>();
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params: { data } }) =>
      told.resolve(data),
    );
    const answer = client.callTool(chat('use order_tea {}'));
    const { sessionId, inputId } = await waitingInput(service);
    const path = `/api/sessions/${sessionId}/inputs/${encodeURIComponent(inputId)}`;
    expect(await told.promise).toMatchObject({
      message: expect.stringContaining(`with POST ${path}`),
      inputs: [{ inputId, toolName: 'order_tea' }],
    });
    expect((await service.post(path, { action: 'cancel' })).status).toBe(200);
    expect(JSON.stringify(await answer)).toContain(String.raw`\"action\":\"cancel\"`);
    await client.close();
  });
});
