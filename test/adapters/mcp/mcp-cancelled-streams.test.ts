import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { StreamableTransport } from '../../../src/adapters/mcp/http/streamable-transport.ts';
import { RpcPeer } from '../../../src/adapters/mcp/peer/rpc-peer.ts';
import { eventually } from '../../support/project/eventually.ts';

/** A server of the era with sessions that takes requests and answers none, as one that was cancelled need not be. */
async function silentServer() {
  const streams = new Set<ServerResponse>();
  const cancelled: unknown[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const { method, params } = JSON.parse(body || '{}');
    if (method === 'notifications/cancelled') {
      cancelled.push(params.requestId);
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const transport = new StreamableTransport({ url, fetch, headers: {}, mask: (text) => text });
  return {
    streams,
    cancelled,
    transport,
    async [Symbol.asyncDispose]() {
      await transport.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('the stream of a request that was given up', () => {
  it('is let go when the server knows that the request is cancelled', async () => {
    await using server = await silentServer();
    const peer = new RpcPeer(server.transport, {
      onRequest: async () => ({}),
      onNotification: () => undefined,
      onLateAnswer: () => undefined,
      onError: () => undefined,
      onClosed: () => undefined,
    });
    for (const id of [1, 2, 3]) {
      const request = peer.request({ id, method: 'tools/call', params: {} }, { timeoutMs: 100 });
      await expect(request).rejects.toThrow('did not answer');
    }
    await eventually(
      async () => server.streams.size,
      (open) => open === 0,
    );
    expect(server.cancelled).toEqual([1, 2, 3]);
  });
});
