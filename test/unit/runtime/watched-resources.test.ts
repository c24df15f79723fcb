import { expect, test } from 'vitest';
import { JsonRpcError } from '../../../src/core/json-rpc.ts';
import { ANYONE, contextOf, type RequestContext } from '../../../src/core/request/request-context.ts';
import { WatchedResources } from '../../../src/runtime/tools/watched-resources.ts';
import { identity } from '../../support/access/known-tokens.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

function watching(refuses: () => boolean = () => false) {
  const subscribed: unknown[] = [];
  const connection = connectionDouble({
    listTools: async () => [],
    callTool: async () => ({ status: 'failed', reason: 'not called' }),
    close: async () => undefined,
    async request(asked) {
      if (refuses()) throw new JsonRpcError(-32602, 'Unknown resource');
      subscribed.push(asked);
      return {};
    },
  });
  const listed = new Set(['one']);
  const log = recordingLog();
  const resources = new WatchedResources({
    connectionOf: (serverId) => (listed.has(serverId) ? connection : null),
    isListed: (serverId) => listed.has(serverId),
    log,
  });
  let watches = 0;
  /** @returns how to end it. */
  const watch = async (serverId: string, uri: string, client: RequestContext = ANYONE) => {
    const asked = { watchId: String(++watches), serverId, uri };
    await resources.watch(asked, client);
    return () => resources.unwatch(asked);
  };
  const watched = {
    watch,
    hear: resources.hear.bind(resources),
    connected: resources.connected.bind(resources),
  };
  return { watched, subscribed, listed, log };
}

const client = (principal: string, tenant: string) => contextOf(identity(principal, { tenant }));

const SUBSCRIPTION = { method: 'resources/subscribe', params: { uri: 'test://a' } };
const UNSUBSCRIPTION = { ...SUBSCRIPTION, method: 'resources/unsubscribe' };

test('subscribes once, however many clients watch', async () => {
  const { watched, subscribed } = watching();
  await Promise.all([watched.watch('one', 'test://a'), watched.watch('one', 'test://a')]);
  expect(subscribed).toEqual([SUBSCRIPTION]);
});

test('subscribes again when the server is back', async () => {
  const { watched, subscribed } = watching();
  await watched.watch('one', 'test://a');
  watched.connected('other');
  expect(subscribed).toHaveLength(1);
  watched.connected('one');
  await expect.poll(() => subscribed).toEqual([SUBSCRIPTION, SUBSCRIPTION]);
});

test('subscribes again to nothing when the list of a server changes, except to what it has refused since it is back', async () => {
  let isRefusing = false;
  const { watched, subscribed, log } = watching(() => isRefusing);
  await watched.watch('one', 'test://a');
  isRefusing = true;
  watched.connected('one');
  await expect.poll(() => log.lines).toMatchObject([{ message: 'a resource could not be watched again' }]);
  isRefusing = false;
  await watched.watch('one', 'test://b');
  watched.hear({ kind: 'prompts', serverId: 'one' });
  watched.hear({ kind: 'resources', serverId: 'one' });
  watched.hear({ kind: 'resources', serverId: 'one' });
  await watched.watch('one', 'test://c');
  const uris = ['test://a', 'test://b', 'test://a', 'test://c'];
  expect(subscribed).toEqual(uris.map((uri) => ({ ...SUBSCRIPTION, params: { uri } })));
});

test('who watches what its server has refused since it is back asks the server again', async () => {
  let isRefusing = false;
  const { watched, subscribed, log } = watching(() => isRefusing);
  await watched.watch('one', 'test://a');
  isRefusing = true;
  watched.connected('one');
  await expect.poll(() => log.lines).toHaveLength(1);
  await expect(watched.watch('one', 'test://a')).rejects.toThrow('Unknown resource');
  isRefusing = false;
  await watched.watch('one', 'test://a');
  watched.hear({ kind: 'resources', serverId: 'one' });
  await watched.watch('one', 'test://b');
  expect(subscribed.slice(1)).toEqual([SUBSCRIPTION, { ...SUBSCRIPTION, params: { uri: 'test://b' } }]);
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

test('unsubscribes when the last watcher leaves, and subscribes again after that', async () => {
  const { watched, subscribed } = watching();
  const [leave, leaveToo] = [await watched.watch('one', 'test://a'), await watched.watch('one', 'test://a')];
  leave();
  leave();
  await watched.watch('one', 'test://b');
  expect(subscribed).toEqual([SUBSCRIPTION, { ...SUBSCRIPTION, params: { uri: 'test://b' } }]);
  leaveToo();
  await watched.watch('one', 'test://a');
  expect(subscribed.slice(2)).toEqual([UNSUBSCRIPTION, SUBSCRIPTION]);
  watched.connected('one');
  await expect.poll(() => subscribed).toHaveLength(6);
});

test('a thousand resources of a server are watched at most, and none gives way', async () => {
  const { watched, subscribed } = watching();
  const leave = await watched.watch('one', 'test://0');
  for (let index = 1; index < 1_000; index += 1) await watched.watch('one', `test://${index}`);
  await watched.watch('one', 'test://0');
  await expect(watched.watch('one', 'test://more')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: { limit: 1_000 },
  });
  leave();
  await expect(watched.watch('one', 'test://more')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(subscribed).toHaveLength(1_000);
});

test('a principal watches a quarter of them, and a tenant three quarters', async () => {
  const { watched } = watching();
  const [ada, bob, cec, eve] = ['ada', 'bob', 'cec', 'eve'].map((name) => client(name, 'acme'));
  const leave = await watched.watch('one', 'test://ada-0', ada);
  for (let index = 1; index < 250; index += 1) await watched.watch('one', `test://ada-${index}`, ada);
  const refusal = { code: 'RATE_LIMIT_EXCEEDED', details: { name: 'watchedResources' } };
  await expect(watched.watch('one', 'test://more', ada)).rejects.toMatchObject({
    ...refusal,
    details: { ...refusal.details, of: 'principal', limit: 250 },
  });
  for (let index = 0; index < 250; index += 1) {
    await watched.watch('one', `test://bob-${index}`, bob);
    await watched.watch('one', `test://cec-${index}`, cec);
  }
  await expect(watched.watch('one', 'test://more', eve)).rejects.toMatchObject({
    ...refusal,
    details: { ...refusal.details, of: 'tenant', limit: 750 },
  });
  // What the tenant watches already takes nothing more.
  await watched.watch('one', 'test://ada-1', eve);
  await watched.watch('one', 'test://more', client('ada', 'other'));
  leave();
  await watched.watch('one', 'test://again', ada);
});

test('a server that is not in the list is refused, and nothing is kept for it', async () => {
  const { watched, subscribed, listed } = watching();
  await expect(watched.watch('other', 'test://a')).rejects.toMatchObject({
    code: -32_602,
    message: 'There is no tool server other.',
  });
  listed.add('other');
  watched.connected('other');
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
  watched.connected('other');
  await watched.watch('one', 'test://c');
  expect(subscribed).toEqual(
    ['test://b', 'test://a', 'test://c'].map((uri) => ({ ...SUBSCRIPTION, params: { uri } })),
  );
});
