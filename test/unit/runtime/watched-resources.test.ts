import { expect, test } from 'vitest';
import { ServerPeerError } from '../../../src/core/tool-server/server-peer.ts';
import { WatchedResources } from '../../../src/runtime/tools/watched-resources.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';
import { RecordingLog } from '../../support/tools/mcp/recording-log.ts';

function watching(refuses: () => boolean = () => false) {
  const subscribed: unknown[] = [];
  const connection = connectionDouble({
    listTools: async () => [],
    callTool: async () => ({ status: 'failed', reason: 'not called' }),
    close: async () => undefined,
    async request(asked) {
      if (refuses()) throw new ServerPeerError(-32602, 'Unknown resource');
      subscribed.push(asked);
      return {};
    },
  });
  const listed = new Set(['one']);
  const watched = new WatchedResources({
    connectionOf: (serverId) => (listed.has(serverId) ? connection : null),
    isListed: (serverId) => listed.has(serverId),
    log: new RecordingLog(),
  });
  return { watched, subscribed, listed };
}

const SUBSCRIPTION = { method: 'resources/subscribe', params: { uri: 'test://a' } };

test('subscribes once, however many clients watch', async () => {
  const { watched, subscribed } = watching();
  await Promise.all([watched.watch('one', 'test://a'), watched.watch('one', 'test://a')]);
  expect(subscribed).toEqual([SUBSCRIPTION]);
});

test('subscribes again when the server is back', async () => {
  const { watched, subscribed } = watching();
  await watched.watch('one', 'test://a');
  watched.hear({ kind: 'tools', serverId: 'one' });
  watched.hear({ kind: 'resources', serverId: 'other' });
  expect(subscribed).toHaveLength(1);
  watched.hear({ kind: 'resources', serverId: 'one' });
  await expect.poll(() => subscribed).toEqual([SUBSCRIPTION, SUBSCRIPTION]);
});

test('refuses as the server does, and forgets what was refused', async () => {
  let isRefusing = true;
  const { watched, subscribed } = watching(() => isRefusing);
  await expect(watched.watch('one', 'test://a')).rejects.toThrow('Unknown resource');
  isRefusing = false;
  await watched.watch('one', 'test://a');
  expect(subscribed).toEqual([SUBSCRIPTION]);
});

test('who watches what another client begins to watch is refused with it', async () => {
  const { watched } = watching(() => true);
  const both = [watched.watch('one', 'test://a'), watched.watch('one', 'test://a')];
  for (const answer of await Promise.allSettled(both)) expect(answer.status).toBe('rejected');
});

test('of more than a thousand resources of one server, the one that was asked for longest ago gives way', async () => {
  const { watched, subscribed } = watching();
  for (let index = 0; index < 1_000; index += 1) await watched.watch('one', `test://${index}`);
  await watched.watch('one', 'test://0');
  await watched.watch('one', 'test://more');
  expect(subscribed.slice(1_000)).toEqual([
    { method: 'resources/subscribe', params: { uri: 'test://more' } },
    { method: 'resources/unsubscribe', params: { uri: 'test://1' } },
  ]);
});

test('a server that is not in the list is refused, and nothing is kept for it', async () => {
  const { watched, subscribed, listed } = watching();
  await expect(watched.watch('other', 'test://a')).rejects.toMatchObject({
    code: -32_602,
    message: 'There is no tool server other.',
  });
  listed.add('other');
  watched.hear({ kind: 'resources', serverId: 'other' });
  await watched.watch('one', 'test://a');
  expect(subscribed).toEqual([SUBSCRIPTION]);
});

test('what was watched of a server that is off the list is forgotten', async () => {
  const { watched, subscribed, listed } = watching();
  listed.add('other');
  await watched.watch('other', 'test://b');
  listed.delete('other');
  await watched.watch('one', 'test://a');
  listed.add('other');
  watched.hear({ kind: 'resources', serverId: 'other' });
  await watched.watch('one', 'test://c');
  expect(subscribed).toEqual(
    ['test://b', 'test://a', 'test://c'].map((uri) => ({ ...SUBSCRIPTION, params: { uri } })),
  );
});
