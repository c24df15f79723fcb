import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { ApprovalConfig } from '../../../src/core/tool-call/approval-policy.ts';
import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import type { ToolServerConnector } from '../../../src/ports/tool-server.ts';
import type { ToolOffer } from '../../../src/ports/turn-tools.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpSupervisor } from '../../../src/runtime/tools/mcp-supervisor.ts';
import { type CatalogOptions, ToolCatalog } from '../../../src/runtime/tools/tool-catalog.ts';
import type { ToolServers } from '../../../src/runtime/tools/tool-servers.ts';
import { eventually } from '../../support/project/eventually.ts';
import { silentLog } from '../../support/service/running-service.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';
import { DirectedTools } from '../../support/tools/directed-tools.ts';
import { serverBook } from '../../support/tools/server-book.ts';

const AUTO: ApprovalConfig = { rules: [], default: 'auto' };

function catalogOf(
  list: ToolServers,
  { approval = AUTO, maxTools, log = silentLog }: Partial<CatalogOptions> = {},
): ToolCatalog {
  const schemas = {
    issueWith: async () => undefined,
    ofServer: async () => ({}),
    ofResult: async () => ({}),
    ofClient: async () => ({}),
  };
  return new ToolCatalog(list, schemas, {
    approval,
    clientTools: { expiresAfterMs: 3_600_000 },
    elicitation: { expiresAfterMs: 1_000 },
    roots: [],
    fileUrl: String,
    maxTools,
    log,
  });
}

/** What a model is offered that takes so many tools, of a server that has so many. */
async function offer(
  count: number,
  maxTools?: number,
  approval: ApprovalConfig = AUTO,
): Promise<{ offer: ToolOffer; lines: readonly unknown[] }> {
  const names = Array.from({ length: count }, (_, index) => `tool_${index + 1}`);
  const connector = new DirectedTools(Object.fromEntries(names.map((name) => [name, { repeatable: true }])));
  const log = recordingLog();
  await using supervisor = new McpSupervisor(
    { connector, log, machines: new LiveMachines(), retryDelayMs: () => 1_000 },
    serverBook(memoryEventStore()),
  );
  supervisor.start({ many: { type: 'stdio', command: 'none' } });
  const catalog = catalogOf(supervisor.servers, { approval, maxTools, log });
  await catalog.ready();
  const given = catalog.forModel();
  expect(catalog.forModel()).toBe(given);
  return { offer: given, lines: log.lines.filter(({ level }) => level === 'warn') };
}

describe('the tools that a model is offered', () => {
  it('are all there are, where the model has no limit', async () => {
    const { offer: given, lines } = await offer(130);
    expect(given.tools).toHaveLength(130);
    expect(lines).toEqual([]);
  });

  it('are as many as the model takes; the log names those beyond, once', async () => {
    const { offer: given, lines } = await offer(130, 128);
    expect(given.tools.map(({ name }) => name)).toEqual(
      Array.from({ length: 128 }, (_, index) => `tool_${index + 1}`),
    );
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toMatch(
      /tool_129.*tool_130.*takes 128 tools at most, and 2 are not offered/,
    );
  });

  it('can be called beyond the limit: the model may know them from before', async () => {
    const { offer: given } = await offer(130, 128);
    const [call] = await given.resolve([{ callId: 'c', name: 'tool_130', arguments: '{}' }], [], 'default');
    expect(call).toMatchObject({ toolName: 'tool_130', serverId: 'many' });
    expect(call).not.toHaveProperty('problem');
  });

  it('are called with what the agent file says of each, and the hash of the arguments', async () => {
    const rules = (['ask', 'deny'] as const).map((policy, index) => {
      return { server: '*', tool: `tool_${index + 1}`, policy };
    });
    const { offer: given } = await offer(3, undefined, { rules, default: 'auto' });
    const names = ['tool_1', 'tool_2', 'tool_3', 'unknown'];
    const calls = await given.resolve(
      names.map((name) => ({ callId: name, name, arguments: '{"b":2,"a":1}' })),
      [],
      'default',
    );
    expect(calls.map(({ policy }) => policy)).toEqual(['ask', 'deny', 'auto', 'auto']);
    // printf '%s' '{"a":1,"b":2}' | sha256sum
    const hash = '43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777';
    expect(calls.map(({ argumentsHash }) => argumentsHash)).toEqual(Array(4).fill(hash));
    expect(calls.map((call) => 'problem' in call)).toEqual([false, false, false, true]);
  });
});

/** Servers with one tool, which is named after the command. Connecting waits for the gate of the command, if it has one. */
function servers(gates: Readonly<Record<string, Promise<void>>> = {}): McpSupervisor {
  const connect: ToolServerConnector['connect'] = async (_, config, _events, signal) => {
    const name = config.type === 'stdio' ? config.command : config.type;
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => aborted.reject(signal.reason));
    await Promise.race([gates[name], aborted.promise]);
    return connectionDouble({
      listTools: async () => [{ name, description: '', inputSchema: {}, repeatable: true }],
      callTool: async () => ({ status: 'succeeded', result: { content: [{ type: 'text', text: name }] } }),
      close: async () => undefined,
    });
  };
  const deps = { log: silentLog, machines: new LiveMachines(), retryDelayMs: () => 1_000 };
  return new McpSupervisor({ connector: { connect }, ...deps }, serverBook(memoryEventStore()));
}

const stdio = (command: string): McpServerConfig => ({ type: 'stdio', command });

const offered = (catalog: ToolCatalog) =>
  catalog.available().map(({ serverId, toolName }) => `${serverId}: ${toolName}`);

async function outcomeOf(catalog: ToolCatalog, serverId: string): Promise<string> {
  const ids = { turnId: 't', callId: 'c', toolName: 'tool', name: 'tool', serverId };
  const outcome = await catalog.call(
    { type: 'tool-call.requested', ...ids, arguments: {}, repeatable: true },
    new AbortController().signal,
    () => Promise.reject(new Error('nobody asks')),
  );
  return JSON.stringify(outcome);
}

describe('a catalog that is the current one', () => {
  it('waits for all servers of the list that are starting, also for those of the version before', async () => {
    const slow = Promise.withResolvers<void>();
    await using supervisor = servers({ slow: slow.promise, gone: new Promise(() => undefined) });
    const catalog = catalogOf(supervisor.servers);
    supervisor.start({ slow: stdio('slow'), gone: stdio('gone') });
    supervisor.takeOver({ slow: stdio('slow'), added: stdio('added') });
    const atReady = catalog.ready()?.then(() => offered(catalog));
    await eventually(
      async () => offered(catalog),
      (now) => now.includes('added: added'),
    );
    slow.resolve();
    expect(await atReady).toEqual(['slow: slow', 'added: added']);
  });
});

describe('a catalog that is frozen', () => {
  it('offers, calls and knows the servers that it had, also those that the list has no more', async () => {
    await using supervisor = servers();
    const { servers: list } = supervisor;
    const [former, current] = [catalogOf(list), catalogOf(list)];
    const sampling = { policy: 'auto', maxRequests: 1, maxTokens: 1 } as const;
    const changed: McpServerConfig = { ...stdio('former'), sampling };
    supervisor.start({ kept: stdio('kept'), gone: stdio('gone'), changed });
    await former.ready();
    former.freeze();
    const { retired } = supervisor.takeOver({
      kept: stdio('kept'),
      changed: stdio('later'),
      added: stdio('added'),
    });
    await current.ready();
    expect(offered(former)).toEqual(['kept: kept', 'gone: gone', 'changed: former']);
    expect(offered(current)).toEqual(['kept: kept', 'added: added', 'changed: later']);
    expect(former.forModel().tools).toHaveLength(3);
    expect(await outcomeOf(former, 'changed')).toContain('former');
    expect(await outcomeOf(current, 'changed')).toContain('later');
    expect(await outcomeOf(former, 'gone')).toContain('gone');
    expect(await outcomeOf(former, 'added')).toContain('not connected');
    expect([former, current].map((one) => one.questionsOf('changed').sampling)).toEqual([
      sampling,
      undefined,
    ]);
    await Promise.all(retired.map((server) => supervisor.giveUp(server)));
    expect(offered(former)).toEqual(['kept: kept']);
  });

  it('waits for the servers that it had, and not for later ones', async () => {
    const [former, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using supervisor = servers({ former: former.promise, later: later.promise });
    const { servers: list } = supervisor;
    const catalog = catalogOf(list);
    supervisor.start({ bank: stdio('former') });
    catalog.freeze();
    supervisor.takeOver({ bank: stdio('later') });
    expect([offered(catalog), catalog.ready()]).toEqual([[], expect.any(Promise)]);
    former.resolve();
    await catalog.ready();
    expect([offered(catalog), catalog.ready()]).toEqual([['bank: former'], null]);
    expect(list.firstAttempts()).not.toBeNull();
    later.resolve();
    await list.firstAttempts();
    expect([offered(catalog), catalog.ready()]).toEqual([['bank: former'], null]);
  });
});
