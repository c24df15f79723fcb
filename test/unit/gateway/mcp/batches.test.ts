import { expect, it } from 'vitest';
import { tooLargeBatch } from '../../../../src/gateway/mcp/batches.ts';
import { McpBody } from '../../../../src/gateway/mcp/json-rpc-body.ts';

it('a batch is counted before anything else is done with it', () => {
  const batch = (length: number) =>
    new McpBody(JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))));
  expect(tooLargeBatch(batch(100))).toBeNull();
  expect(tooLargeBatch(batch(101))).toMatchObject({
    status: 400,
    body: expect.stringContaining('A batch must not exceed 100 messages.'),
  });
});
