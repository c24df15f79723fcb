import { setImmediate as nextLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Tool } from '../../../src/core/tool-call/tool.ts';
import type { ToolServerConnector, ToolServerEvents } from '../../../src/ports/tool-server.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpServer } from '../../../src/runtime/tools/mcp-server.ts';
import { ToolRefresh } from '../../../src/runtime/tools/tool-refresh.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

/** Lists of tools that are under way until `answer` is called. */
function refreshed() {
  const clock = new SimulatedClock();
  const life = new AbortController();
  const answers: ((isListed: boolean) => void)[] = [];
  const refresh = new ToolRefresh({
    refresh: () => new Promise((resolve) => answers.push(resolve)),
    retryDelayMs: (failures) => failures * 2_000,
    signal: life.signal,
    clock,
  });
  const pass = async (ms: number) => {
    clock.increment(ms);
    await nextLoop();
  };
  const answer = async (isListed = true) => {
    answers.at(-1)?.(isListed);
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

  it('are listed again after longer and longer waits while the list fails', async () => {
    const { refresh, pass, answer, lists } = refreshed();
    refresh.request();
    for (const failures of [1, 2, 3]) {
      await answer(false);
      await pass(failures * 2_000 - 1);
      expect(lists()).toBe(failures);
      await pass(1);
      expect(lists()).toBe(failures + 1);
    }
    await answer();
    await pass(100_000);
    expect(lists()).toBe(4);
    refresh.request();
    await answer(false);
    await pass(2_000);
    expect(lists()).toBe(6);
  });

  it('are listed once, and at once, if they change while a list that failed waits to be repeated', async () => {
    const { refresh, pass, answer, lists } = refreshed();
    refresh.request();
    await answer(false);
    await pass(1_000);
    refresh.request();
    expect(lists()).toBe(2);
    await answer();
    await pass(100_000);
    expect(lists()).toBe(2);
  });

  it.each([0, 1_000])(
    'are not repeated if the connection ends %s ms after a list that failed',
    async (ms) => {
      const { refresh, life, pass, answer, lists } = refreshed();
      refresh.request();
      await answer(false);
      await pass(ms);
      life.abort();
      await pass(100_000);
      expect(lists()).toBe(1);
    },
  );

  it('are not repeated if the connection ends while they are listed', async () => {
    const { refresh, life, pass, answer, lists } = refreshed();
    refresh.request();
    life.abort();
    await answer(false);
    await pass(100_000);
    expect(lists()).toBe(1);
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

describe('a server whose changed tools cannot be listed at first', () => {
  it('has its new tools after another try, without being connected again', async () => {
    const clock = new SimulatedClock();
    let connections = 0;
    let lists = 0;
    const tool = (name: string): Tool => ({ name, description: '', inputSchema: {}, repeatable: false });
    const events = Promise.withResolvers<ToolServerEvents>();
    const server = new McpServer(
      's',
      { type: 'stdio', command: 'none' },
      {
        connector: {
          connect: async (_name, _config, heard) => {
            connections += 1;
            events.resolve(heard);
            return connectionDouble({
              listTools: async () => {
                lists += 1;
                if (lists === 2) throw new Error('busy');
                return [tool(lists === 1 ? 'old' : 'new')];
              },
              callTool: async () => ({ status: 'failed', reason: 'not asked for' }),
              close: async () => undefined,
            });
          },
        },
        log: recordingLog(),
        machines: new LiveMachines(),
        retryDelayMs: () => 2_000,
        clock,
        onTransition: () => undefined,
        onOfferChange: () => undefined,
        onToolsChanged: () => undefined,
      },
    );
    const names = () => server.tools.map(({ name }) => name);
    await server.connect();
    (await events.promise).onToolsChanged();
    await nextLoop();
    expect({ lists, names: names() }).toEqual({ lists: 2, names: ['old'] });
    clock.increment(2_000);
    await nextLoop();
    expect({ lists, names: names(), connections }).toEqual({ lists: 3, names: ['new'], connections: 1 });
    await server.disconnect();
  });
});
