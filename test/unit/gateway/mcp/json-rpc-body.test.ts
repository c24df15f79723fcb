import { expect, it } from 'vitest';
import { McpBody } from '../../../../src/gateway/mcp/json-rpc-body.ts';

it('a batch is counted before anything else is done with it', () => {
  const batch = (length: number) =>
    JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })));
  expect(new McpBody(batch(100)).requestIds).toHaveLength(100);
  expect(() => new McpBody(batch(101))).toThrow('A batch must not exceed 100 messages.');
});
