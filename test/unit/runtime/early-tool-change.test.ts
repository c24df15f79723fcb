import { expect, test } from 'vitest';
import type { Tool } from '../../../src/core/tool-call/tool.ts';
import type { ToolServerConnection, ToolServerConnector } from '../../../src/ports/tool-server.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpServer } from '../../../src/runtime/tools/mcp-server.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

const tool = (name: string): Tool => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  repeatable: false,
});

test.each([1, 0])('tools that change while they are first listed are listed again (%s)', async (early) => {
  let lists = 0;
  const connector: ToolServerConnector = {
    connect: async (_name, _config, events): Promise<ToolServerConnection> =>
      connectionDouble({
        listTools: async () => {
          lists += 1;
          if (lists <= early) events.onToolsChanged();
          return Array.from({ length: lists }, (_, index) => tool(`t${index}`));
        },
        callTool: async () => ({ status: 'failed', reason: 'not asked for' }),
        close: async () => undefined,
      }),
  };
  const relisted = Promise.withResolvers<void>();
  const server = new McpServer(
    's',
    { type: 'stdio', command: 'none' },
    {
      connector,
      log: recordingLog(),
      machines: new LiveMachines(),
      retryDelayMs: () => 1,
      onTransition: () => undefined,
      onOfferChange: () => undefined,
      onToolsChanged: () => {
        if (server.tools.length === 1 + early) relisted.resolve();
      },
    },
  );
  expect(await server.connect()).toBe('connected');
  await relisted.promise;
  expect(server.tools).toHaveLength(1 + early);
  await server.disconnect();
  expect(lists).toBe(1 + early);
});
