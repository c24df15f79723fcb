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
  const watched = new WatchedResources({ connectionOf: () => connection, log: new RecordingLog() });
  return { watched, subscribed };
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

test('watches at most a thousand resources of one server', async () => {
  const { watched } = watching();
  for (let index = 0; index < 1_000; index += 1) await watched.watch('one', `test://${index}`);
  await expect(watched.watch('one', 'test://more')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await watched.watch('one', 'test://1');
});
