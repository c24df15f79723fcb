import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import type { McpChange } from '../../../../src/gateway/mcp/mcp-surface.ts';
import { watchListening } from '../../../../src/gateway/mcp/stateless/watched-listening.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

function listening() {
  const missing = new Set(['test://0']);
  const listeners = new Set<(change: McpChange) => void>();
  const served: JSONRPCMessage[] = [];
  const sent: JSONRPCMessage[] = [];
  const watched: string[] = [];
  const unwatched: string[] = [];
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
    async watch({ uri }: { readonly uri: string }) {
      watched.push(uri);
      if (missing.has(uri)) throw new Error('no server has it');
      return () => void unwatched.push(uri);
    },
    onChange(listener: (change: McpChange) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  watchListening(transport, { surface, context: ANYONE, log: recordingLog() });
  const hear = (message: JSONRPCMessage) => transport.onmessage?.(message);
  /** The server that has it is connected. */
  const appear = (uri: string): void => {
    missing.delete(uri);
    for (const listener of listeners) listener({ kind: 'resources_list_changed' });
  };
  return { served, sent, watched, unwatched, hear, appear, listeners, transport };
}

const listenTo = (resourceSubscriptions: readonly string[]): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'subscriptions/listen',
  params: { notifications: { resourceSubscriptions } },
});
const listen = (count: number): JSONRPCMessage =>
  listenTo(Array.from({ length: count }, (_, index) => `test://${index}`));

it('what a subscription names is watched, and the subscription is served', () => {
  const { served, sent, watched, hear } = listening();
  hear(listen(100));
  expect([watched.length, served, sent]).toEqual([100, [listen(100)], []]);
});

it('what nobody has yet is watched as soon as a server has it, and the rest not again', async () => {
  const { watched, hear, appear, listeners } = listening();
  hear(listen(3));
  await expect.poll(() => watched).toHaveLength(3);
  appear('test://9');
  await expect.poll(() => watched.slice(3)).toEqual(['test://0']);
  appear('test://0');
  await expect.poll(() => listeners.size).toBe(0);
  expect(watched.slice(4)).toEqual(['test://0']);
});

it('a change during the first attempt leads to another one', async () => {
  const { watched, hear, appear, listeners } = listening();
  hear(listen(1));
  appear('test://0');
  await expect.poll(() => listeners.size).toBe(0);
  expect(watched).toEqual(['test://0', 'test://0']);
});

it.each(['cancelled', 'closed'])('a subscription that is %s watches nothing any more', async (end) => {
  const { watched, hear, appear, listeners, transport } = listening();
  hear(listen(1));
  await expect.poll(() => watched).toHaveLength(1);
  if (end === 'closed') transport.onclose?.();
  else hear({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
  expect(listeners.size).toBe(0);
  appear('test://0');
  expect(watched).toHaveLength(1);
});

it.each(['watched', 'about to be watched'])('what is %s is given back at the end', async (state) => {
  const { watched, unwatched, hear, listeners, transport } = listening();
  hear(listenTo(['test://1', 'test://2']));
  expect(watched).toHaveLength(2);
  // All are watched when the subscription needs to hear of no other resources any more.
  if (state === 'watched') await expect.poll(() => listeners.size).toBe(0);
  transport.onclose?.();
  await expect.poll(() => unwatched).toEqual(['test://1', 'test://2']);
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

it('a subscription to a resource whose address is too long is refused, and nothing is watched', () => {
  const { served, sent, watched, hear } = listening();
  const longest = `test://${'x'.repeat(8_185)}`;
  hear(listenTo([longest]));
  expect([watched, sent]).toEqual([[longest], []]);
  hear(listenTo(['test://1', `${longest}x`]));
  const data = { field: 'params.notifications.resourceSubscriptions.1', issue: expect.any(String) };
  expect(sent).toEqual([
    {
      jsonrpc: '2.0',
      id: 7,
      error: expect.objectContaining({ code: -32_600, data: expect.objectContaining(data) }),
    },
  ]);
  expect([watched, served]).toEqual([[longest], [listenTo([longest])]]);
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
