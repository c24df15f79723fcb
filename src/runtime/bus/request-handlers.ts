import { z } from 'zod';
import { Fork } from '../../core/session/session-view.ts';
import { ToolExecution } from '../../core/tool-call/tool.ts';
import { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { KeyedRequests } from '../requests/keyed-requests.ts';
import type { Journal } from '../sessions/journal.ts';
import type { SessionArchive } from '../sessions/session-archive.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { ClientToolCalls } from '../tools/client-tool-calls.ts';
import type { McpSupervisor } from '../tools/mcp-supervisor.ts';
import type { Bus } from './bus.ts';
import type { LiveMachines } from './live-machines.ts';
import type { Readiness } from './readiness.ts';

export interface RequestHandlers {
  readonly journal: Journal;
  readonly sessions: SessionRegistry;
  readonly archive: SessionArchive;
  readonly servers: McpSupervisor;
  readonly clientCalls: ClientToolCalls;
  readonly machines: LiveMachines;
  readonly requests: KeyedRequests;
  readonly readiness: Readiness;
  readonly exportConfig: () => string;
}

/** Who answers what on the bus. */
export function answerRequests(bus: Bus, handlers: RequestHandlers): void {
  answerForTurns(bus, handlers);
  answerForSessions(bus, handlers);
  answerForServers(bus, handlers);
  answerForService(bus, handlers);
}

function answerForTurns(bus: Bus, { sessions, requests }: RequestHandlers): void {
  bus.handle('turn.start', ({ sessionId, ...message }) =>
    sessions.startTurn(sessionId, { type: 'turn.start', ...message }),
  );
  bus.handle('turn.cancel', ({ sessionId, turnId, reason, key }) => {
    const run = async (): Promise<boolean> => {
      const session = await sessions.session(sessionId);
      return session.cancel(reason, turnId);
    };
    const scope = ['turn.cancel', sessionId];
    return requests.once({ key, scope, answer: z.boolean() }, () => ({ repeatable: true, run }));
  });
  bus.handle('approval.answer', ({ sessionId, key, ...answer }) => {
    const run = async (): Promise<undefined> => {
      const session = await sessions.session(sessionId);
      await session.answerApproval({ type: 'approval.answer', ...answer });
    };
    const scope = ['approval.answer', sessionId, answer.callId];
    return requests.once({ key, scope, answer: z.undefined() }, () => ({ repeatable: true, run }));
  });
  bus.handle('session.reset', async ({ sessionId, key }) => {
    const session = await sessions.session(sessionId);
    await session.reset(key);
    return undefined;
  });
}

function answerForSessions(bus: Bus, { journal, sessions, archive, requests }: RequestHandlers): void {
  bus.handle('session.list', ({ after, limit }) => archive.list(after, limit));
  bus.handle('session.view', ({ sessionId, at }) => archive.view(sessionId, at));
  bus.handle('session.fork', ({ from, at, to, key }) => {
    const run = () => archive.fork(from, at, to);
    const scope = ['session.fork', from];
    return requests.once({ key, scope, answer: Fork }, () => ({ repeatable: false, run }));
  });
  bus.handle('session.delete', async ({ sessionId }) => {
    await archive.delete(sessionId);
    return undefined;
  });
  bus.handle('session.position', ({ sessionId }) => sessions.position(sessionId));
  bus.handle('session.events', ({ sessionId, afterSeq, limit }) => journal.read(sessionId, afterSeq, limit));
}

function answerForServers(bus: Bus, { servers, clientCalls, requests }: RequestHandlers): void {
  bus.handle('mcp-server.list', async () => servers.records());
  bus.handle('mcp-server.connect', ({ name, config, key }) => {
    const run = () => servers.connect(name, config);
    const scope = ['mcp-server.connect'];
    return requests.once({ key, scope, answer: McpServerRecord }, () => ({ repeatable: false, run }));
  });
  bus.handle('mcp-server.disconnect', ({ serverId }) => servers.disconnect(serverId));
  bus.handle('mcp-server.reconnect', ({ serverId, key }) => {
    const run = () => servers.reconnect(serverId);
    const scope = ['mcp-server.reconnect', serverId];
    return requests.once({ key, scope, answer: McpServerRecord }, () => ({ repeatable: true, run }));
  });
  bus.handle('tool.list', async ({ serverId }) => servers.toolsOf(serverId));
  bus.handle('tool.execute', ({ key, ...call }) => {
    const scope = ['tool.execute', call.serverId, call.toolName];
    return requests.once({ key, scope, answer: ToolExecution }, () => clientCalls.prepare(call));
  });
}

function answerForService(bus: Bus, { machines, readiness, exportConfig }: RequestHandlers): void {
  bus.handle('machine.watch', async ({ sessionId, onState }) =>
    machines.watchStates((state) => {
      if (sessionId === undefined || state.sessionId === undefined || state.sessionId === sessionId)
        onState(state);
    }),
  );
  bus.handle('readiness.check', () => readiness.problems());
  bus.handle('config.export', async () => exportConfig());
}
