import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { chooseAdapters } from '../../../src/app/adapters/choose-adapters.ts';
import { composeAgent } from '../../../src/app/compose.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { ToolServerConnector, ToolServerEvents } from '../../../src/ports/tool-server.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  mcpServers: { files: { type: 'stdio', command: 'none' } },
});
const LIST_CHANGED = { method: 'notifications/resources/list_changed', params: {} };
const SUBSCRIPTION = { method: 'resources/subscribe', params: { uri: 'test://a' } };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('a watched resource is subscribed to once for each connection, and not for each change of the list', async () => {
  const log = recordingLog();
  const asked: unknown[] = [];
  const connections: ToolServerEvents[] = [];
  const connector: ToolServerConnector = {
    connect: async (_name, _config, events) => {
      connections.push(events);
      return connectionDouble({
        listTools: async () => [],
        callTool: () => Promise.reject(),
        close: async () => undefined,
        async request(request) {
          asked.push(request);
          return {};
        },
      });
    },
  };
  const { config, raw, agentVersion } = parseAgentFile(YAML, 'test.yml', {});
  const adapters = await chooseAdapters({ config, dataDir: ':memory:', environment: {}, log });
  const agent = await composeAgent({ config, raw, agentVersion, adapters: { ...adapters, connector }, log });
  await agent.toolServers[0]?.settled;
  const told: string[] = [];
  agent.bus.onOfferChange(({ kind }) => void told.push(kind), ANYONE);
  const watch = (uri: string) =>
    agent.bus.send('resource.watch', { watchId: uri, serverId: 'files', uri }, ANYONE);
  await watch('test://a');
  connections[0]?.onNotification?.(LIST_CHANGED);
  expect(told).toEqual(['resources']);
  await watch('test://b');
  expect(asked).toEqual([SUBSCRIPTION, { ...SUBSCRIPTION, params: { uri: 'test://b' } }]);

  connections[0]?.onClosed('crashed');
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.waitFor(() => expect(connections).toHaveLength(2));
  await vi.waitFor(() => expect(asked.slice(2)).toContainEqual(SUBSCRIPTION));
  connections[1]?.onNotification?.(LIST_CHANGED);
  await watch('test://c');
  expect(asked).toHaveLength(5);
  await agent.close();
});
