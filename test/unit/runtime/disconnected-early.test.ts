import { expect, test } from 'vitest';
import type { ToolServerConnection } from '../../../src/ports/tool-server.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpServer } from '../../../src/runtime/tools/mcp-server.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

const serverOf = (connection: ToolServerConnection): McpServer =>
  new McpServer(
    's',
    { type: 'stdio', command: 'none' },
    {
      connector: { connect: async () => connection },
      log: recordingLog(),
      machines: new LiveMachines(),
      retryDelayMs: () => 1,
      onTransition: () => undefined,
      onOfferChange: () => undefined,
      onToolsChanged: () => undefined,
    },
  );

test.each([0, 1, 2, 3, 4, 5])(
  'a server that is disconnected %s microtasks after its tools are known keeps no connection',
  async (microtasks) => {
    let closed = 0;
    const listed = Promise.withResolvers<[]>();
    const asked = Promise.withResolvers<void>();
    const connection = connectionDouble({
      listTools: () => {
        asked.resolve();
        return listed.promise;
      },
      callTool: async () => ({ status: 'failed', reason: 'not asked for' }),
      close: async () => {
        closed += 1;
      },
    });
    const server = serverOf(connection);
    const connected = server.connect();
    await asked.promise;
    listed.resolve([]);
    for (let passed = 0; passed < microtasks; passed += 1) await null;
    await server.disconnect();
    await connected;
    await nextLoop();
    expect({ status: server.status, connection: server.connection, closed }).toEqual({
      status: 'disconnected',
      connection: null,
      closed: 1,
    });
  },
);

test('a server that does not say what its tools are is disconnected at once', async () => {
  let closed = 0;
  let isDisconnected = false;
  const asked = Promise.withResolvers<void>();
  const connection = connectionDouble({
    listTools: (signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        asked.resolve();
      }),
    callTool: async () => ({ status: 'failed', reason: 'not asked for' }),
    close: async () => {
      closed += 1;
    },
  });
  const server = serverOf(connection);
  const connected = server.connect();
  await asked.promise;
  void server.disconnect().then(() => {
    isDisconnected = true;
  });
  expect(await connected).toBe('disconnected');
  await nextLoop();
  expect({ isDisconnected, closed }).toEqual({ isDisconnected: true, closed: 1 });
});
