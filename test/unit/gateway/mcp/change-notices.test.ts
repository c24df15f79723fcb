import { Server } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { requireScope } from '../../../../src/core/access/require-scope.ts';
import { ANYONE, contextOf, type RequestContext } from '../../../../src/core/request/request-context.ts';
import { ChangeNotices } from '../../../../src/gateway/mcp/change-notices.ts';
import type { McpClient } from '../../../../src/gateway/mcp/mcp-client.ts';
import { mergedSurface } from '../../../../src/gateway/mcp/merged-surface.ts';
import { passedSurface } from '../../../../src/gateway/mcp/passed/passed-surface.ts';
import { LocalBus } from '../../../../src/runtime/bus/local-bus.ts';
import { identity } from '../../../support/access/known-tokens.ts';
import { recordingLog } from '../../../support/telemetry/recording-log.ts';

const server = () => new Server({ name: 's', version: '1' }, { capabilities: {} });
const older: McpClient = { era: 'legacy', context: ANYONE, isLasting: true, ownSessionId: 's' };

it('a client of the older era watches a hundred resources at most', () => {
  const notices = new ChangeNotices(server(), { capabilities: { resources: { subscribe: true } } }, older);
  for (let index = 0; index < 100; index += 1) notices.add(`a://${index}`);
  notices.add('a://0');
  expect(() => notices.add('a://100')).toThrow('Too many resources');
  notices.remove('a://0');
  notices.add('a://100');
});

it('a client that may not hear of tool servers is connected, and hears the rest', () => {
  const bus = Object.assign(new LocalBus((error) => expect.unreachable(String(error))), {
    onOfferChange: (_: unknown, client: RequestContext): never => {
      requireScope(client, 'servers:read');
      return expect.unreachable();
    },
  });
  const passed = passedSurface({ bus, log: recordingLog(), reserved: new Set() }, new Set(['tools']));
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
