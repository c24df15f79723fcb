import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/json-object.ts';
import type { JsonRpcAnswer } from '../../../../src/core/json-rpc.ts';
import { ANYONE } from '../../../../src/core/request/request-context.ts';
import { forwardedSurface } from '../../../../src/gateway/mcp/forwarded/forwarded-surface.ts';
import type { RequestOf } from '../../../../src/ports/service-requests.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const URI = 'shared://x';
const AT_AA = 'mcp-server://aa/shared%3A%2F%2Fx';
const TELLS: JsonObject = { resources: { subscribe: true } };
const SILENT: JsonObject = { resources: {} };
const NO_METHOD: JsonRpcAnswer = { error: { code: -32_601, message: 'Method not found' } };

/** Tool servers that list one resource each, and clients that hear of changes. */
function watched(...names: string[]) {
  const servers = new Map(names.map((name) => [name, TELLS]));
  const refusals = new Map<string, JsonRpcAnswer>();
  const asked: string[] = [];
  const heard: string[] = [];
  const lists: string[] = [];
  const bus = new LocalBus((error) => expect.unreachable(String(error)));
  bus.handle('mcp-server.features', async () =>
    [...servers].map(([serverId, capabilities]) => ({ serverId, capabilities })),
  );
  bus.handle('mcp-server.offers', async ({ kind }) => {
    lists.push(kind);
    if (kind !== 'resources') return [];
    return [...servers.keys()].map((serverId) => ({ serverId, items: [{ name: 'x', uri: URI }] }));
  });
  const during = { watch: (_: RequestOf<'resource.watch'>): void => undefined };
  bus.handle('resource.watch', async (request) => {
    asked.push(request.serverId);
    during.watch(request);
    return refusals.get(request.serverId) ?? { result: {} };
  });
  bus.handle('resource.unwatch', async () => undefined);
  const surface = forwardedSurface({ bus, log: recordingLog(), reserved: new Set() }, new Set(['resources']));
  const listen = () =>
    surface.onChange?.((change) => {
      if (change.kind === 'resource_updated') heard.push(change.uri);
    }, ANYONE);
  listen();
  const watch = (uri: string) => surface.watch?.({ uri }, { context: ANYONE });
  const change = (serverId: string) => bus.publishOfferChange({ kind: 'resource', serverId, uri: URI });
  return { servers, refusals, asked, heard, lists, during, listen, watch, change };
}

it('a change is told under the address that was asked for, also when another server lists the resource, too', async () => {
  const { servers, heard, watch, change } = watched('aa');
  await watch(URI);
  servers.set('bb', TELLS);
  change('aa');
  await expect.poll(() => heard).toEqual([URI]);
  change('bb');
  expect(heard).toEqual([URI]);
});

it('a change is told under the address that was asked for, also when no other server lists the resource any more', async () => {
  const { servers, heard, watch, change } = watched('aa', 'bb');
  await watch(AT_AA);
  servers.delete('bb');
  change('aa');
  await expect.poll(() => heard).toEqual([AT_AA]);
});

it('a resource that is watched by two addresses is told under both, until nobody watches it by them', async () => {
  const { heard, watch, change } = watched('aa');
  const stops = [await watch(URI), await watch(AT_AA), await watch(URI)];
  change('aa');
  await expect.poll(() => heard).toEqual([URI, AT_AA]);
  for (const stop of stops.slice(0, 2)) stop?.();
  change('aa');
  await expect.poll(() => heard.slice(2)).toEqual([URI]);
  stops[2]?.();
  change('aa');
  expect(heard).toHaveLength(3);
});

it('a change asks no server for its lists, however many clients are connected', async () => {
  const { heard, lists, listen, watch, change } = watched('aa');
  for (let others = 0; others < 9; others += 1) listen();
  await watch(URI);
  lists.length = 0;
  change('aa');
  await expect.poll(() => heard).toHaveLength(10);
  expect(lists).toEqual([]);
});

it('a change that a server tells before it has answered is told', async () => {
  const { heard, during, watch, change } = watched('aa');
  during.watch = ({ serverId }) => change(serverId);
  await watch(URI);
  await expect.poll(() => heard).toEqual([URI]);
});

it('the servers that tell of changes are asked first', async () => {
  const { servers, heard, asked, watch, change } = watched('aa', 'bb');
  servers.set('aa', SILENT);
  await watch(URI);
  expect(asked).toEqual(['bb']);
  change('bb');
  await expect.poll(() => heard).toEqual([URI]);
});

it('the next server is asked if one refuses, and nothing is told of the one that did', async () => {
  const { refusals, heard, asked, watch, change } = watched('aa', 'bb');
  refusals.set('aa', NO_METHOD);
  await watch(URI);
  expect(asked).toEqual(['aa', 'bb']);
  change('aa');
  change('bb');
  await expect.poll(() => heard).toEqual([URI]);
});

it('if all servers refuse, the refusal is that of the likeliest one', async () => {
  const { refusals, watch } = watched('aa', 'bb');
  refusals.set('aa', { error: { code: -32_602, message: 'Unknown resource' } });
  refusals.set('bb', NO_METHOD);
  await expect(watch(URI)).rejects.toMatchObject({ code: -32_602, message: 'Unknown resource' });
});
