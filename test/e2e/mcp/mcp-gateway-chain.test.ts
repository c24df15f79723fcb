import { describe, expect } from 'vitest';
import { gatewayClient, startGateway } from '../../support/tools/gateway.ts';
import { scriptableServer } from '../../support/tools/mcp/tool-servers.ts';
import { verifies } from '../requirements.ts';

/** A service whose tool server is another service, and the client of the outer one. */
async function chain(more = '') {
  const inner = await startGateway({ tools: scriptableServer() }, { more });
  const outer = await startGateway({ inner: { type: 'http', baseUrl: `${inner.url}/mcp` } });
  const client = await gatewayClient(outer.url, 'modern', {
    capabilities: { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
  });
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await outer.close();
      await inner.close();
    },
  };
}

describe('services in a chain', () => {
  verifies(
    'mcp.gateway',
    'a client that knows tasks gets the result itself, although the tool server knows them, too',
    async () => {
      await using chained = await chain();
      const call = { name: 'inner__chat_with_agent', arguments: { message: 'hi' } };
      const { structuredContent } = await chained.client.callTool(call);
      expect(structuredContent).toMatchObject({ reply: expect.any(String) });
    },
  );

  verifies(
    'mcp.gateway-questions',
    'the answer to a question reaches the call that the inner service holds',
    async () => {
      await using chained = await chain();
      chained.client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
      const params = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
      const ask = { name: 'ask', arguments: { method: 'elicitation/create', params } };
      const { content } = await chained.client.callTool(ask);
      expect(content).toEqual([{ type: 'text', text: '{"action":"decline"}' }]);
    },
  );

  verifies('mcp.gateway-approval', 'an approval reaches the service whose rules ask for it', async () => {
    await using chained = await chain(`approval: {rules: [{server: tools, tool: echo, policy: ask}]}`);
    chained.client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { approve: true },
    }));
    const { content } = await chained.client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(content).toEqual([{ type: 'text', text: 'hi' }]);
  });
});
