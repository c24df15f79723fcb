import type { Bus } from './bus.ts';
import type { Journal } from './journal.ts';
import type { LiveMachines } from './live-machines.ts';
import type { McpSupervisor } from './mcp-supervisor.ts';
import type { SessionArchive } from './session-archive.ts';
import type { SessionRegistry } from './session-registry.ts';
import type { ToolCatalog } from './tool-catalog.ts';

export interface RequestHandlers {
  readonly journal: Journal;
  readonly sessions: SessionRegistry;
  readonly archive: SessionArchive;
  readonly servers: McpSupervisor;
  readonly catalog: ToolCatalog;
  readonly machines: LiveMachines;
  readonly exportConfig: () => string;
}

/** Who answers what on the bus. */
export function answerRequests(
  bus: Bus,
  { journal, sessions, archive, servers, catalog, machines, exportConfig }: RequestHandlers,
): void {
  bus.handle('turn.start', async ({ sessionId, ...message }) => {
    const session = await sessions.sessionForTurn(sessionId);
    return session.startTurn({ type: 'turn.start', ...message });
  });
  bus.handle('turn.cancel', async ({ sessionId, turnId, reason }) => {
    const session = await sessions.session(sessionId);
    return session.cancel(reason, turnId);
  });
  bus.handle('approval.answer', async ({ sessionId, ...answer }) => {
    const session = await sessions.session(sessionId);
    await session.answerApproval({ type: 'approval.answer', ...answer });
    return undefined;
  });
  bus.handle('session.reset', async ({ sessionId, key }) => {
    const session = await sessions.session(sessionId);
    await session.reset(key);
    return undefined;
  });
  bus.handle('session.list', ({ after, limit }) => archive.list(after, limit));
  bus.handle('session.view', ({ sessionId, at }) => archive.view(sessionId, at));
  bus.handle('session.fork', ({ from, at, to }) => archive.fork(from, at, to));
  bus.handle('session.delete', async ({ sessionId }) => {
    await archive.delete(sessionId);
    return undefined;
  });
  bus.handle('session.position', ({ sessionId }) => sessions.position(sessionId));
  bus.handle('session.events', ({ sessionId, afterSeq, limit }) => journal.read(sessionId, afterSeq, limit));
  bus.handle('mcp-server.list', async () => servers.records());
  bus.handle('mcp-server.connect', ({ name, config }) => servers.connect(name, config));
  bus.handle('mcp-server.disconnect', ({ serverId }) => servers.disconnect(serverId));
  bus.handle('mcp-server.reconnect', ({ serverId }) => servers.reconnect(serverId));
  bus.handle('tool.list', async ({ serverId }) => catalog.list(serverId));
  bus.handle('tool.execute', ({ serverId, toolName, arguments: args }) =>
    catalog.execute(serverId, toolName, args),
  );
  bus.handle('machine.watch', async ({ sessionId, onState }) =>
    machines.watchStates((state) => {
      if (sessionId === undefined || state.sessionId === undefined || state.sessionId === sessionId)
        onState(state);
    }),
  );
  bus.handle('config.export', async () => exportConfig());
}
