import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { untilLost } from '../../../../src/gateway/mcp/credential-stream.ts';
import { McpBody } from '../../../../src/gateway/mcp/json-rpc-body.ts';

it('a stream that broke hears no more of its credential', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('broken')),
  });
  const { signal } = new AbortController();
  const stream = untilLost(broken, signal, new McpBody('{"jsonrpc":"2.0","id":1,"method":"x"}'));
  await expect(stream.getReader().read()).rejects.toThrow('broken');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
