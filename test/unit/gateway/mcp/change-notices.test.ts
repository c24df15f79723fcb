import { Server } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { requireScope } from '../../../../src/core/access/require-scope.ts';
import { ANYONE, contextOf, type RequestContext } from '../../../../src/core/request/request-context.ts';
import { ChangeNotices } from '../../../../src/gateway/mcp/change-notices.ts';
import { forwardedSurface } from '../../../../src/gateway/mcp/forwarded/forwarded-surface.ts';
import type { McpClient } from '../../../../src/gateway/mcp/mcp-client.ts';
import type { McpSurface } from '../../../../src/gateway/mcp/mcp-surface.ts';
import { mergedSurface } from '../../../../src/gateway/mcp/merged-surface.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { identity } from '../../../support/access/known-tokens.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const server = () => new Server({ name: 's', version: '1' }, { capabilities: {} });
const older: McpClient = { era: 'legacy', context: ANYONE, isLasting: true, ownSessionId: 's' };

/** A surface whose resources can be watched, and what is watched. */
function watchable() {
  const watched: string[] = [];
  const refused = new Set<string>();
  const surface: McpSurface = {
    capabilities: { resources: { subscribe: true } },
    async watch({ uri }) {
      if (refused.has(uri)) throw new Error('no server has it');
      watched.push(uri);
      return () => void watched.splice(watched.indexOf(uri), 1);
    },
    onChange: () => () => undefined,
  };
  return { watched, refused, surface };
}

it('a client of the older era watches a hundred resources at most', async () => {
  const { surface } = watchable();
  const notices = new ChangeNotices(server(), surface, older);
  for (let index = 0; index < 100; index += 1) await notices.watch(`a://${index}`, older);
  await notices.watch('a://0', older);
  await expect(notices.watch('a://100', older)).rejects.toThrow('Too many resources');
  notices.unwatch('a://0');
  await notices.watch('a://100', older);
});

it('what a client no longer watches is given back: once, and all of it when the client leaves', async () => {
  const { surface, watched } = watchable();
  const connection = server();
  const notices = new ChangeNotices(connection, surface, older);
  await notices.watch('a://0', older);
  await notices.watch('a://0', older);
  await notices.watch('a://1', older);
  await expect.poll(() => watched).toEqual(['a://0', 'a://1']);
  notices.unwatch('a://0');
  notices.unwatch('a://0');
  await expect.poll(() => watched).toEqual(['a://1']);
  const begun = notices.watch('a://2', older);
  connection.onclose?.();
  await begun;
  await expect.poll(() => watched).toEqual([]);
});

it('a resource is watched if one of two requests at once has succeeded', async () => {
  const { surface, watched, refused } = watchable();
  const notices = new ChangeNotices(server(), surface, older);
  refused.add('a://0');
  const first = notices.watch('a://0', older);
  refused.delete('a://0');
  const second = notices.watch('a://0', older);
  await expect(first).rejects.toThrow('no server has it');
  await second;
  expect(watched).toEqual(['a://0']);
});

it('a resource that a client may not watch takes no place, and keeps the one that it had', async () => {
  const { surface, watched, refused } = watchable();
  const notices = new ChangeNotices(server(), surface, older);
  refused.add('a://0');
  await expect(notices.watch('a://0', older)).rejects.toThrow('no server has it');
  for (let index = 1; index <= 100; index += 1) await notices.watch(`a://${index}`, older);
  refused.add('a://1');
  await expect(notices.watch('a://1', older)).rejects.toThrow('no server has it');
  expect(watched).toHaveLength(100);
  notices.unwatch('a://1');
  await expect.poll(() => watched).toHaveLength(99);
});

it('a client that may not hear of tool servers is connected, and hears the rest', () => {
  const bus = Object.assign(new LocalBus((error) => expect.unreachable(String(error))), {
    onOfferChange: (_: unknown, client: RequestContext): never => {
      requireScope(client, 'servers:read');
      return expect.unreachable();
    },
  });
  const passed = forwardedSurface({ bus, log: recordingLog(), reserved: new Set() }, new Set(['tools']));
  const heard: unknown[] = [];
  let isStopped = false;
  const own = {
    capabilities: {},
    onChange: (listener: (change: { kind: 'tools_list_changed' }) => void) => {
      listener({ kind: 'tools_list_changed' });
      return () => {
        isStopped = true;
      };
    },
  };
  const surface = mergedSurface(own, { tools: new Set(), uris: new Set() }, passed);
  const stop = surface.onChange?.(
    (change) => heard.push(change),
    contextOf(identity('ada', { scopes: new Set() })),
  );
  expect(heard).toEqual([{ kind: 'tools_list_changed' }]);
  stop?.();
  expect(isStopped).toBe(true);
});
