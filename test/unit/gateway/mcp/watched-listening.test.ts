import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { watchListening } from '../../../../src/gateway/mcp/stateless/watched-listening.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

function listening() {
  const served: JSONRPCMessage[] = [];
  const sent: JSONRPCMessage[] = [];
  const watched: string[] = [];
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    async send(message) {
      sent.push(message);
    },
    onmessage: (message) => served.push(message),
  };
  const surface = {
    capabilities: {},
    async subscribe({ uri }: { readonly uri: string }) {
      watched.push(uri);
      if (uri === 'test://0') throw new Error('no server has it');
      return {};
    },
  };
  watchListening(transport, { surface, context: ANYONE, log: recordingLog() });
  const hear = (message: JSONRPCMessage) => transport.onmessage?.(message);
  return { served, sent, watched, hear };
}

const listen = (count: number): JSONRPCMessage => ({
  ...{ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen' },
  params: {
    notifications: { resourceSubscriptions: Array.from({ length: count }, (_, index) => `test://${index}`) },
  },
});

it('what a subscription names is watched, and the subscription is served', () => {
  const { served, sent, watched, hear } = listening();
  hear(listen(100));
  expect([watched.length, served, sent]).toEqual([100, [listen(100)], []]);
});

it('a subscription to more than a hundred resources is refused, and nothing is watched', () => {
  const { served, sent, watched, hear } = listening();
  hear(listen(101));
  const data = { field: 'params.notifications.resourceSubscriptions', issue: expect.any(String) };
  expect(sent).toEqual([
    {
      jsonrpc: '2.0',
      id: 7,
      error: expect.objectContaining({ code: -32_600, data: expect.objectContaining(data) }),
    },
  ]);
  expect([watched, served]).toEqual([[], []]);
});

it('other messages are served as they come', () => {
  const { served, watched, hear } = listening();
  const read: JSONRPCMessage = {
    jsonrpc: '2.0',
    id: 1,
    method: 'resources/read',
    params: { uri: 'test://0' },
  };
  hear(read);
  expect([served, watched]).toEqual([[read], []]);
});
