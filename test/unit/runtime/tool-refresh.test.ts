import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Tool } from '../../../src/core/tool-call/tool.ts';
import type { ToolServerConnector } from '../../../src/ports/tool-server.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpServer } from '../../../src/runtime/tools/mcp-server.ts';
import { ToolRefresh } from '../../../src/runtime/tools/tool-refresh.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

/** Lists of tools that are under way until `answer` is called. */
function refreshed() {
  const clock = new SimulatedClock();
  const life = new AbortController();
  const answers: (() => void)[] = [];
  const refresh = new ToolRefresh({
    refresh: () => new Promise((resolve) => answers.push(resolve)),
    signal: life.signal,
    clock,
  });
  const pass = async (ms: number) => {
    clock.increment(ms);
    await nextLoop();
  };
  const answer = async () => {
    answers.at(-1)?.();
    await nextLoop();
  };
  return { refresh, life, pass, answer, lists: () => answers.length };
}

describe('tools that have changed', () => {
  it('are listed at once, and again after a pause if they change meanwhile', async () => {
    const { refresh, pass, answer, lists } = refreshed();
    refresh.request();
    expect(lists()).toBe(1);
    for (const _ of [1, 2, 3]) refresh.request();
    await pass(10_000);
    expect(lists()).toBe(1);
    await answer();
    await pass(999);
    expect(lists()).toBe(1);
    await pass(1);
    expect(lists()).toBe(2);
    await answer();
    await pass(10_000);
    expect(lists()).toBe(2);
    refresh.request();
    expect(lists()).toBe(3);
  });

  it('are listed after the pause if they change in it', async () => {
    const { refresh, pass, answer, lists } = refreshed();
    refresh.request();
    await answer();
    refresh.request();
    expect(lists()).toBe(1);
    await pass(1_000);
    expect(lists()).toBe(2);
  });

  it('are not listed any more when the connection has ended', async () => {
    const { refresh, life, answer, lists } = refreshed();
    refresh.request();
    await answer();
    refresh.request();
    life.abort();
    await nextLoop();
    expect(lists()).toBe(1);
  });
});

describe('a server that says that its tools have changed each time that they are listed', () => {
  const tools: Tool[] = [{ name: 't', description: '', inputSchema: { type: 'object' }, repeatable: false }];

  it('is listed once more at once, and tells nobody while the list is the same', async () => {
    let lists = 0;
    let told = 0;
    const connector: ToolServerConnector = {
      connect: async (_name, _config, events) =>
        connectionDouble({
          listTools: async () => {
            lists += 1;
            events.onToolsChanged();
            return tools;
          },
          callTool: async () => ({ status: 'failed', reason: 'not asked for' }),
          close: async () => undefined,
        }),
    };
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
          told += 1;
        },
      },
    );
    expect(await server.connect()).toBe('connected');
    // A loop would list a hundred times meanwhile.
    for (let loop = 0; loop < 100; loop += 1) await nextLoop();
    expect({ lists, told }).toEqual({ lists: 2, told: 1 });
    await server.disconnect();
    expect({ lists, told }).toEqual({ lists: 2, told: 2 });
  });
});
