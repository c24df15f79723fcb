import { describe, expect } from 'vitest';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const unlimited = {
  yaml: JSON.stringify({
    llm: { provider: 'scripted', model: 'offline' },
    limits: { requestsPerMinute: false },
  }),
};
const LEVELS = 20_000;
const DEEP = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`;
/** Where a request has a value of any form. It becomes `DEEP`, or the text of it. */
const ANY = '@deep';
const TEXT = '@text';

const user = { role: 'user', content: 'hi' };
const functionCall = { id: 'c', type: 'function', function: { name: 'f', arguments: TEXT } };
const a2a = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: ANY }] } };
const mcp = {
  protocolVersion: '2025-11-25',
  capabilities: { experimental: ANY },
  clientInfo: { name: 'test', version: '1' },
};
const requests: Readonly<Record<string, object>> = {
  '/api/message-sync': { message: 'hi', outputSchema: ANY },
  '/v1/chat/completions': {
    model: 'default',
    messages: [user],
    tools: [{ type: 'function', function: { name: 'f', parameters: ANY } }],
  },
  '/v1/chat/completions?': {
    model: 'default',
    messages: [{ role: 'assistant', tool_calls: [functionCall] }, user],
  },
  '/v1/responses': {
    model: 'default',
    input: 'hi',
    tools: [{ type: 'function', name: 'f', parameters: ANY }],
  },
  '/v1/conversations': { items: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: TEXT }] },
  '/ag-ui': { threadId: 'thread', runId: 'run', messages: [{ id: 'm', ...user }], state: ANY },
  '/a2a': { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: a2a },
  '/a2a/message:send': a2a,
  '/mcp': { jsonrpc: '2.0', id: 1, method: 'initialize', params: mcp },
};
const headers = { Accept: 'application/json, text/event-stream', 'A2A-Version': '1.0' };

describe('JSON that is nested too deeply', () => {
  verifies('requests.nesting', async () => {
    await using service = await RunningService.start(unlimited);
    for (const [path, request] of Object.entries(requests)) {
      const body = JSON.stringify(request)
        .replaceAll(`"${ANY}"`, DEEP)
        .replaceAll(`"${TEXT}"`, JSON.stringify(DEEP));
      const answer = await service.fetch(path, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body,
      });
      const text = await answer.text();
      // JSON-RPC has its errors in answers with 200.
      expect({ path, status: answer.status }).toEqual({ path, status: path === '/a2a' ? 200 : 400 });
      expect(text).toContain('it has more than 200 levels');
    }
  });

  verifies('requests.nesting', 'over WebSocket', async () => {
    await using service = await RunningService.start(unlimited);
    using client = await service.connect();
    client.send(`{"type":"message","content":"hi","outputSchema":${DEEP}}`);
    expect((await client.settled()).at(-1)).toMatchObject({
      event: 'error',
      data: { details: { field: 'frame', issue: 'it has more than 200 levels' } },
    });
  });
});
