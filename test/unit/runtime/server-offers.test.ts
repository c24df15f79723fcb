import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json-object.ts';
import type { ForwardedRequest } from '../../../src/ports/tool-server.ts';
import { type Connected, offersOf } from '../../../src/runtime/tools/server-offers.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';
import { RecordingLog } from '../../support/tools/mcp/recording-log.ts';

function server(
  serverId: string,
  capabilities: JsonObject,
  request: (asked: ForwardedRequest) => Promise<JsonObject>,
): Connected {
  const connection = connectionDouble({
    listTools: async () => [],
    callTool: async () => ({ status: 'failed', reason: 'not called' }),
    close: async () => undefined,
    capabilities,
    request,
  });
  return { serverId, connection };
}

test('has all pages of each server, with every field', async () => {
  const pages: Readonly<Record<string, JsonObject>> = {
    '': { prompts: [{ name: 'a', title: 'A', _meta: { x: 1 } }], nextCursor: '2' },
    '2': { prompts: [{ name: 'b' }], nextCursor: '' },
  };
  const paged = server(
    'one',
    { prompts: {} },
    async ({ params }) => pages[String(params.cursor ?? '')] ?? {},
  );
  expect(await offersOf([paged], 'prompts', new RecordingLog())).toEqual([
    { serverId: 'one', items: [{ name: 'a', title: 'A', _meta: { x: 1 } }, { name: 'b' }] },
  ]);
});

test('leaves out a server that has none of the kind, and one that fails', async () => {
  const log = new RecordingLog();
  const none = server('none', { tools: {} }, async () => {
    throw new Error('must not be asked');
  });
  const failing = server('failing', { resources: {} }, async () => {
    throw new Error('it is broken');
  });
  const good = server('good', { resources: {} }, async ({ method }) => ({
    resourceTemplates: [{ uriTemplate: method }],
  }));
  expect(await offersOf([none, failing, good], 'templates', log)).toEqual([
    { serverId: 'good', items: [{ uriTemplate: 'resources/templates/list' }] },
  ]);
  expect(JSON.stringify(log)).toContain('it is broken');
});
