import { setImmediate as nextLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chooseAdapters } from '../../../src/app/adapters/choose-adapters.ts';
import type { Agent } from '../../../src/app/agent.ts';
import { composeAgent } from '../../../src/app/compose.ts';
import { parseAgentFile } from '../../../src/config/reading/agent-file.ts';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { ToolServerConnector, ToolServerEvents } from '../../../src/ports/tool-server.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

const YAML = JSON.stringify({
  llm: { provider: 'scripted', model: 'offline' },
  mcpServers: { tools: { type: 'stdio', command: 'none' } },
});
/** Behind the last one the waits are all alike. */
const WAITS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];

/** A tool server that is down until it is told otherwise. */
class DownServer implements ToolServerConnector {
  attempts = 0;
  isUp = false;
  #events: ToolServerEvents | undefined;

  connect: ToolServerConnector['connect'] = async (_name, _config, events) => {
    this.attempts += 1;
    if (!this.isUp) throw new Error('down');
    this.#events = events;
    return connectionDouble({
      listTools: async () => [],
      callTool: () => Promise.reject(),
      close: async () => undefined,
    });
  };

  crash(): void {
    this.isUp = false;
    this.#events?.onClosed('crashed');
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function composed(connector: ToolServerConnector): Promise<Agent> {
  const log = recordingLog();
  const { config, raw, agentVersion } = parseAgentFile(YAML, 'test.yml', {});
  const adapters = await chooseAdapters({ config, dataDir: ':memory:', environment: {}, log });
  const agent = await composeAgent({ config, raw, agentVersion, adapters: { ...adapters, connector }, log });
  await agent.toolServers[0]?.settled;
  return agent;
}

/** The next attempt comes after just this wait. */
async function expectAttemptAfter(ms: number, server: DownServer): Promise<void> {
  const { attempts } = server;
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(server.attempts).toBe(attempts);
  await vi.advanceTimersByTimeAsync(1);
  // What the attempt came to is known when the loop has gone round.
  await nextLoop();
  expect(server.attempts).toBe(attempts + 1);
}

describe('a tool server of the agent file that is down', () => {
  it.each([
    ['most', 1, 1],
    ['least', 0, 0.5],
  ])('is tried after 1 s, 2 s, 4 s … 30 s where chance adds the %s', async (_what, chance, part) => {
    vi.spyOn(Math, 'random').mockReturnValue(chance);
    const server = new DownServer();
    const agent = await composed(server);
    expect(server.attempts).toBe(1);
    for (const ms of WAITS.slice(0, -1)) await expectAttemptAfter(ms * part, server);
    server.isUp = true;
    await expectAttemptAfter(30_000 * part, server);
    expect(await agent.bus.send('mcp-server.list', {}, ANYONE)).toMatchObject([{ status: 'connected' }]);

    // Afresh, because the connection has held.
    await vi.advanceTimersByTimeAsync(60_000);
    server.crash();
    for (const ms of WAITS) await expectAttemptAfter(ms * part, server);
    await agent.close();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(server.attempts).toBe(2 * WAITS.length + 1);
  });
});
