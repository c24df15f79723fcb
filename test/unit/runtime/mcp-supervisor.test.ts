import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { SERVERS_STREAM } from '../../../src/core/log/streams.ts';
import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import type { ServerAuthorizations } from '../../../src/ports/server-authorization.ts';
import type { ToolServerConnector } from '../../../src/ports/tool-server.ts';
import { LiveMachines } from '../../../src/runtime/machines/live-machines.ts';
import { McpSupervisor } from '../../../src/runtime/tools/mcp-supervisor.ts';
import { ServerBook } from '../../../src/runtime/tools/server-book.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { silentLog } from '../../support/service/running-service.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { connectionDouble } from '../../support/tools/connection-double.ts';

const files: McpServerConfig = { type: 'stdio', command: 'files' };
const others: McpServerConfig = { type: 'stdio', command: 'others' };
const remote: McpServerConfig = { type: 'http', baseUrl: 'https://tools.example/mcp' };

/** Connects everything. Each server has a tool that is named after its configuration. */
class Connections implements ToolServerConnector {
  readonly opened: string[] = [];
  readonly closed: string[] = [];

  connect: ToolServerConnector['connect'] = async (name, config) => {
    const called = `${name}: ${config.type === 'stdio' ? config.command : config.baseUrl}`;
    this.opened.push(called);
    return connectionDouble({
      listTools: async () => [{ name: called, description: '', inputSchema: {}, repeatable: true }],
      callTool: () => Promise.reject(new Error('nobody calls it')),
      close: async () => void this.closed.push(called),
    });
  };
}

/** Several nodes with one log and one agent file. */
function cluster(inFile: Readonly<Record<string, McpServerConfig>> = {}, { isShared = true } = {}) {
  const store = memoryEventStore();
  const box = sealedBox(memoryKeys());
  const start = async () => {
    const watched = new WatchedStore(store);
    const connector = new Connections();
    const forgotten: string[] = [];
    const authorizations: ServerAuthorizations = {
      returnTo: () => undefined,
      urlOf: () => undefined,
      finish: async () => null,
      authorizedElsewhere: async () => [],
      forget: async (server) => void forgotten.push(server),
      keepOnly: async () => undefined,
    };
    const book = new ServerBook(watched, box, silentLog, { isShared });
    const machines = new LiveMachines();
    const deps = { connector, authorizations, log: silentLog, machines, retryDelayMs: () => 1_000 };
    const servers = new McpSupervisor(deps, book);
    const attempts = servers.start(inFile, await book.load());
    await Promise.all(attempts.map(({ settled }) => settled));
    const list = () => servers.servers.records().map(({ name, status }) => `${name} ${status}`);
    const tools = () => servers.servers.connectedTools().map(({ toolName }) => toolName);
    /** Resolves when the list is as wanted, with the next change at the latest. */
    const listed = (...wanted: string[]): Promise<void> => {
      const isThere = (): boolean => JSON.stringify(list()) === JSON.stringify(wanted);
      const { promise, resolve } = Promise.withResolvers<void>();
      servers.servers.onChange(() => isThere() && resolve());
      if (isThere()) resolve();
      return promise;
    };
    return { servers, store: watched, connector, forgotten, list, tools, listed };
  };
  const remembered = () => ServerBook.read(store, box);
  return { start, remembered, store };
}

describe('a server that is disconnected while it is being connected', () => {
  it('is answered with how to connect it, and not as one that is tried again', async () => {
    const { start } = cluster();
    const { servers, connector } = await start();
    const begun = Promise.withResolvers<void>();
    connector.connect = (_name, _config, _events, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        begun.resolve();
      });
    const connecting = servers.connect('x', files, CLIENT);
    const answer = expect(connecting).rejects.toMatchObject({
      code: 'AGENT_ERROR',
      details: {
        reason: 'it was disconnected meanwhile',
        suggestion: expect.stringMatching(/^It is not tried again\./),
      },
    });
    await begun.promise;
    await servers.disconnect('x', CLIENT);
    await answer;
  });
});

describe('a log that takes nothing', () => {
  const full = new StorageFullError('the disk is full');

  it('leaves a server in the list that could not be removed, so that it can be removed later', async () => {
    const { start, remembered } = cluster({}, { isShared: false });
    const { servers, store, list, listed } = await start();
    await servers.connect('x', files, CLIENT);
    store.beforeErase = () => Promise.reject(full);
    await expect(servers.disconnect('x', CLIENT)).rejects.toThrow(full.message);
    await listed('x disconnected');
    await expect(servers.disconnect('x', CLIENT)).rejects.toThrow(full.message);
    expect(list()).toEqual(['x disconnected']);
    store.beforeErase = async () => undefined;
    await servers.disconnect('x', CLIENT);
    expect([list(), await remembered()]).toEqual([[], {}]);
  });

  it('leaves a server as it was that another one was to replace', async () => {
    const { start } = cluster({ files }, { isShared: false });
    const { servers, store, connector, listed, tools } = await start();
    await servers.disconnect('files', CLIENT);
    store.refuseNext('mcp-server.registered', full);
    await expect(servers.connect('files', others, CLIENT)).rejects.toThrow(full.message);
    await listed('files disconnected');

    const { connect } = connector;
    connector.connect = () => Promise.reject(new Error('the server is broken'));
    servers.takeOver({ files, late: files });
    await listed('files disconnected', 'late error');
    connector.connect = connect;
    store.refuseNext('mcp-server.registered', full);
    await expect(servers.connect('late', others, CLIENT)).rejects.toThrow(full.message);
    await listed('files disconnected', 'late connected');
    expect(tools()).toEqual(['late: files']);
  });
});

type Node = Awaited<ReturnType<ReturnType<typeof cluster>['start']>>;

/** Both know of a server that one of them has connected. */
async function withServer(
  config: McpServerConfig = files,
): Promise<{ one: Node; two: Node } & ReturnType<typeof cluster>> {
  const nodes = cluster();
  const [one, two] = [await nodes.start(), await nodes.start()];
  await one.servers.connect('x', config, CLIENT);
  await two.servers.follow();
  await two.listed('x connected');
  return { one, two, ...nodes };
}

describe('a node that follows the others', () => {
  it('connects a server that another node has connected, and records nothing', async () => {
    const { one, two, store } = await withServer();
    expect(two.tools()).toEqual(['x: files']);
    const streams = await store.sessions();
    await two.servers.follow();
    await one.servers.follow();
    expect(await store.sessions()).toEqual(streams);
    expect([one.connector.opened, two.connector.opened]).toEqual([['x: files'], ['x: files']]);
  });

  it('disconnects a server that another node has disconnected, and forgets its authorization', async () => {
    const { one, two, remembered } = await withServer(remote);
    const before = two.servers.servers.revision;
    await one.servers.disconnect('x', CLIENT);
    expect(one.list()).toEqual(['x disconnected']);
    await two.servers.follow();
    expect(two.list()).toEqual(['x disconnected']);
    expect(two.servers.servers.revision).toBeGreaterThan(before);
    expect(two.connector.closed).toEqual(['x: https://tools.example/mcp']);
    expect(two.forgotten).toEqual(['x']);
    expect(await remembered()).toEqual({});
  });

  it('replaces a server whose configuration has changed', async () => {
    const { one, two } = await withServer();
    await one.servers.disconnect('x', CLIENT);
    await one.servers.connect('x', others, CLIENT);
    await two.servers.follow();
    await two.listed('x connected');
    expect(two.tools()).toEqual(['x: others']);
    expect(two.connector.closed).toEqual(['x: files']);
  });

  it('leaves a server connected that another node has only connected again', async () => {
    const { one, two } = await withServer();
    await one.servers.reconnect('x', CLIENT);
    await two.servers.follow();
    expect(two.connector.opened).toEqual(['x: files']);
    expect(two.list()).toEqual(['x connected']);
  });

  it('connects again what it has disconnected itself, once another node connects it anew', async () => {
    const { one, two } = await withServer();
    await two.servers.disconnect('x', CLIENT);
    await one.servers.follow();
    expect(one.list()).toEqual(['x disconnected']);
    await one.servers.connect('x', files, CLIENT);
    expect(two.list()).toEqual(['x disconnected']);
    await two.servers.follow();
    await two.listed('x connected');
  });

  it('disconnects and connects the servers of the agent file as another node does', async () => {
    const { start } = cluster({ a: files, b: files });
    const [one, two] = [await start(), await start()];
    await one.servers.disconnect('a', CLIENT);
    await two.servers.follow();
    expect(two.list()).toEqual(['a disconnected', 'b connected']);
    await two.servers.reconnect('a', CLIENT);
    await one.servers.follow();
    await one.listed('a connected', 'b connected');
    await two.servers.follow();
    expect(two.connector.opened).toEqual(['a: files', 'b: files', 'a: files']);
    await two.servers.disconnect('a', CLIENT);
    await two.servers.disconnect('a', CLIENT);
    await one.servers.follow();
    expect([one.list(), two.list()]).toEqual([['a disconnected', 'b connected'], ['b connected']]);
    await one.servers.reconnect('a', CLIENT);
    await two.servers.follow();
    await two.listed('b connected', 'a connected');
  });

  it('starts without the servers of the agent file that another node has disconnected', async () => {
    const { start } = cluster({ a: files, b: files });
    const one = await start();
    await one.servers.disconnect('a', CLIENT);
    const two = await start();
    expect(two.list()).toEqual(['a disconnected', 'b connected']);
    await two.servers.reconnect('a', CLIENT);
    const three = await start();
    expect(three.list()).toEqual(['a connected', 'b connected']);
  });

  it('takes over servers of the names of the agent file', async () => {
    const { start } = cluster({ a: files, b: files });
    const [one, two] = [await start(), await start()];
    await one.servers.disconnect('a', CLIENT);
    await two.servers.follow();
    await one.servers.connect('a', others, CLIENT);
    await two.servers.follow();
    await two.listed('a connected', 'b connected');
    expect(two.tools().toSorted()).toEqual(['a: others', 'b: files']);
    await one.servers.disconnect('a', CLIENT);
    await two.servers.follow();
    expect(two.list()).toEqual(['a disconnected', 'b connected']);
    expect(two.connector.closed).toEqual(['a: files', 'a: others']);
  });

  it('has no server of the agent file any more when another node has connected a disabled one', async () => {
    const { start } = cluster({ a: files });
    const [one, two] = [await start(), await start()];
    await one.servers.disconnect('a', CLIENT);
    await one.servers.connect('a', { ...others, disabled: true }, CLIENT);
    await two.servers.follow();
    expect([two.list(), two.tools()]).toEqual([['a disconnected'], []]);
  });

  it('does what another node was asked for where its server had the same status, and once', async () => {
    const { start } = cluster({ a: files });
    const node = await start();
    await node.listed('a connected');
    await node.servers.reconnect('a', CLIENT, 'disconnected');
    await node.servers.disconnect('a', CLIENT, 'disconnected');
    expect(node.list()).toEqual(['a connected']);
    await node.servers.disconnect('a', CLIENT, 'connected');
    await node.servers.disconnect('a', CLIENT, 'connected');
    expect(node.list()).toEqual(['a disconnected']);
    await node.servers.reconnect('a', CLIENT, 'disconnected');
    expect(node.list()).toEqual(['a connected']);
    await node.servers.disconnect('a', CLIENT, 'error');
    await node.servers.disconnect('a', CLIENT, 'disconnected');
    expect(node.list()).toEqual([]);
    expect(node.connector.opened).toEqual(['a: files', 'a: files']);
  });

  it('connects nothing any more once it is closed', async () => {
    const { start } = cluster();
    const [one, two] = [await start(), await start()];
    await one.servers.connect('x', files, CLIENT);
    await two.servers[Symbol.asyncDispose]();
    await two.servers.follow();
    expect([two.list(), two.connector.opened]).toEqual([[], []]);
  });
});

describe('an agent file that is read again', () => {
  it('connects a server that somebody has disconnected and that is another one now, for all nodes', async () => {
    const { start } = cluster({ a: files });
    const [one, two] = [await start(), await start()];
    await one.servers.disconnect('a', CLIENT);
    await two.servers.follow();
    const announced = Promise.withResolvers<void>();
    one.store.announce = async () => announced.resolve();
    one.servers.takeOver({ a: others });
    await one.listed('a connected');
    await announced.promise;
    two.servers.takeOver({ a: others });
    await two.servers.follow();
    await two.listed('a connected');
    expect((await start()).list()).toEqual(['a connected']);
  });

  it('connects its server of a name that one had at run time', async () => {
    const { start } = cluster({ kept: files });
    const node = await start();
    for (const name of ['x', 'y']) await node.servers.connect(name, files, CLIENT);
    await node.servers.disconnect('x', CLIENT);
    await node.servers.disconnect('x', CLIENT);
    await node.servers.disconnect('y', CLIENT);
    const inFile = { kept: files, x: others, y: others };
    expect(node.servers.takeOver(inFile).changes.added).toEqual(['x', 'y']);
    await node.listed('kept connected', 'y connected', 'x connected');
    expect(node.tools()).toEqual(['kept: files', 'y: others', 'x: others']);
    // They are servers of the file from now on.
    expect(node.servers.takeOver({ kept: files }).changes.removed).toEqual(['x', 'y']);
  });

  it('leaves a server alone that is connected at run time', async () => {
    const { start } = cluster();
    const node = await start();
    await node.servers.connect('x', files, CLIENT);
    expect(node.servers.takeOver({ x: others }).changes.added).toEqual([]);
    expect(node.list()).toEqual(['x connected']);
  });
});

describe('the end of the service', () => {
  it('ends the servers that turns have kept after the agent file was read again', async () => {
    const { start } = cluster({ a: files, b: files });
    const { servers, connector, listed } = await start();
    const { retired } = servers.takeOver({ a: others });
    await listed('a connected');
    expect(retired.map(({ status }) => status)).toEqual(['connected', 'connected']);
    await servers[Symbol.asyncDispose]();
    expect(connector.closed.toSorted()).toEqual(['a: files', 'a: others', 'b: files']);
  });

  it('waits for a server whose place another one has taken', async () => {
    const { start } = cluster();
    const { servers, connector } = await start();
    const { connect } = connector;
    connector.connect = () => Promise.reject(new Error('the server is broken'));
    await expect(servers.connect('x', files, CLIENT)).rejects.toThrow('could not be connected');
    const begun = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<never>();
    connector.connect = () => {
      begun.resolve();
      return ending.promise;
    };
    servers.reconnect('x', CLIENT).catch(() => undefined);
    await begun.promise;
    connector.connect = connect;
    await servers.connect('x', others, CLIENT);
    let hasEnded = false;
    const end = servers[Symbol.asyncDispose]().then(() => {
      hasEnded = true;
    });
    await nextLoop();
    expect(hasEnded).toBe(false);
    ending.reject(new Error('the server has ended'));
    await end;
  });
});

describe('several nodes that connect a server of one name at the same time', () => {
  it('have the first one: the other is refused, and then there on both', async () => {
    const { start, remembered } = cluster();
    const nodes = [await start(), await start()];
    const connected = await Promise.allSettled(
      nodes.map(({ servers }, index) => servers.connect('x', index === 0 ? files : others, CLIENT)),
    );
    const winner = connected.findIndex(({ status }) => status === 'fulfilled');
    expect(connected[1 - winner]).toMatchObject({
      status: 'rejected',
      reason: {
        code: 'INVALID_REQUEST',
        details: { field: 'name', issue: expect.stringContaining('another node') },
      },
    });
    for (const node of nodes) await node.listed('x connected');
    const tool = winner === 0 ? 'x: files' : 'x: others';
    expect(nodes.map(({ tools }) => tools())).toEqual([[tool], [tool]]);
    expect(await remembered()).toEqual({ x: winner === 0 ? files : others });
  });

  it('show what the log says, also if one follows while it records its own', async () => {
    const { start, remembered } = cluster();
    const [one, two] = [await start(), await start()];
    await one.servers.connect('x', files, CLIENT);
    const released = Promise.withResolvers<void>();
    const read = two.store.read.bind(two.store);
    let reads = 0;
    // The first one is of the node that follows, the second one of what it records.
    two.store.read = async (stream, ...range) => {
      if (stream === SERVERS_STREAM) reads += 1;
      if (stream === SERVERS_STREAM && reads === 2) await released.promise;
      return read(stream, ...range);
    };
    const following = two.servers.follow();
    const connecting = two.servers.connect('x', others, CLIENT);
    await following;
    released.resolve();
    await expect(connecting).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await two.listed('x connected');
    expect(two.tools()).toEqual(['x: files']);
    expect(await remembered()).toEqual({ x: files });
  });
});

describe('a service that has its log to itself', () => {
  it('connects the servers of the agent file at its next start, and records nothing of them', async () => {
    const { start, store } = cluster({ a: files }, { isShared: false });
    const before = await start();
    await before.servers.disconnect('a', CLIENT);
    await before.servers.reconnect('a', CLIENT);
    await before.servers.disconnect('a', CLIENT);
    expect(await store.read(SERVERS_STREAM, 0)).toEqual([]);
    expect((await start()).list()).toEqual(['a connected']);
  });
});
