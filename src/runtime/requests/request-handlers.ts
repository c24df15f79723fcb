import { z } from 'zod';
import type { AgentDescription } from '../../core/agent-description.ts';
import type { SessionId } from '../../core/ids.ts';
import type { SessionEvent } from '../../core/log/events.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { requestOrigin } from '../../core/request/request-origin.ts';
import { Fork } from '../../core/session/session-answers.ts';
import type { AnswerCommand } from '../../core/session/session-commands.ts';
import { ToolExecution } from '../../core/tool-call/tool.ts';
import type { CallableTool } from '../../core/tool-server/forwarded-request.ts';
import { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { StartTurn } from '../../core/turn/turn-commands.ts';
import type { LogSize } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { SchemaCheck } from '../../ports/schema-check.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { LiveMachines } from '../machines/live-machines.ts';
import type { Journal } from '../sessions/journal.ts';
import type { LogReaders } from '../sessions/log-readers.ts';
import type { SessionArchive } from '../sessions/session-archive.ts';
import type { SessionRegistry } from '../sessions/session-registry.ts';
import type { ForwardedRequests } from '../tools/forwarded-requests.ts';
import type { McpSupervisor } from '../tools/mcp-supervisor.ts';
import { peerAnswer } from '../tools/peer-answer.ts';
import { featuresOf, offersOf } from '../tools/server-offers.ts';
import type { WatchedResources } from '../tools/watched-resources.ts';
import { hasCaused } from './caused-events.ts';
import type { ClientToolCalls } from './client-tool-calls.ts';
import { doOnce } from './do-once.ts';
import { keyScope } from './key-scope.ts';
import type { KeyedRequests } from './keyed-requests.ts';
import type { LogBackups } from './log-backups.ts';
import type { Readiness } from './readiness.ts';
import { someEvents } from './some-events.ts';
import { requireUsableSchema } from './usable-schema.ts';
import { ViewTurns } from './view-turns.ts';

export interface RequestDeps {
  readonly journal: Journal;
  readonly sessions: SessionRegistry;
  readonly archive: SessionArchive;
  readonly readers: LogReaders;
  readonly supervisor: McpSupervisor;
  readonly clientCalls: ClientToolCalls;
  readonly forwarded: ForwardedRequests;
  readonly watched: WatchedResources;
  readonly callableTools: () => readonly CallableTool[];
  readonly log: Logger;
  readonly machines: LiveMachines;
  readonly requests: KeyedRequests;
  readonly readiness: Readiness;
  readonly schemas: Pick<SchemaCheck, 'ofClient'>;
  /** What an operator should know now. */
  readonly warnings: () => readonly string[];
  readonly describeAgent: () => AgentDescription;
  readonly logSize: () => Promise<LogSize | null>;
  readonly backups: LogBackups;
  readonly exportConfig: () => string;
}

const Extended = z.object({ seq: z.int() });

/** Registers the handler of each request type on the bus. */
export function answerRequests(bus: LocalBus, deps: RequestDeps): void {
  answerForTurns(bus, deps);
  answerForWaitingCalls(bus, deps);
  answerForSessions(bus, deps);
  answerForServers(bus, deps);
  answerForGateway(bus, deps);
  answerForService(bus, deps);
}

function answerForTurns(bus: LocalBus, { journal, sessions, requests, schemas }: RequestDeps): void {
  bus.handle('turn.start', ({ sessionId, isNewSession, ...message }, context) => {
    const { trace } = context;
    const command: StartTurn = { type: 'turn.start', ...message, ...(trace && { trace }) };
    const origin = requestOrigin(context, message.turnId);
    const start = () => sessions.startTurn(sessionId, command, origin, isNewSession);
    const checked = requireUsableSchema(message.options, context, schemas);
    return checked ? checked.then(start) : start();
  });
  bus.handle('turn.cancel', ({ sessionId, turnId, reason, key, commandId }, context) =>
    doOnce(requests, context, {
      key,
      subject: ['turn.cancel', sessionId],
      causationId: key?.id ?? commandId,
      answer: z.boolean(),
      repeatable: true,
      run: async (origin, isAgain) => {
        // The turn that waited behind the cancelled one may be the running one by now.
        const isCancelled = ({ type }: SessionEvent) => type === 'turn.cancelled';
        if (isAgain && (await hasCaused(journal, { sessionId, key, context }, isCancelled))) return true;
        const session = await sessions.session(sessionId);
        return session.cancel(reason, origin, turnId);
      },
    }),
  );
  bus.handle('session.reset', async ({ sessionId, key }, context) => {
    const session = await sessions.session(sessionId);
    await session.reset(requestOrigin(context), key);
    return undefined;
  });
}

function answerForWaitingCalls(bus: LocalBus, { journal, sessions, requests }: RequestDeps): void {
  const answer = (
    command: AnswerCommand,
    { sessionId, id, key }: { sessionId: SessionId; id: string; key: IdempotencyKey | undefined },
    context: RequestContext,
  ): Promise<undefined> =>
    doOnce(requests, context, {
      key,
      subject: [command.type, sessionId, id],
      causationId: key?.id,
      answer: z.undefined(),
      repeatable: true,
      run: async (origin, isAgain) => {
        if (isAgain && (await hasCaused(journal, { sessionId, key, context }, isAbout(id)))) return undefined;
        const session = await sessions.session(sessionId);
        await session.answer(command, origin);
        return undefined;
      },
    });
  bus.handle('approval.answer', ({ sessionId, key, ...given }, context) =>
    answer({ type: 'approval.answer', ...given }, { sessionId, id: given.callId, key }, context),
  );
  bus.handle('tool-call.answer', ({ sessionId, key, ...given }, context) =>
    answer({ type: 'tool-call.answer', ...given }, { sessionId, id: given.callId, key }, context),
  );
  bus.handle('input.answer', ({ sessionId, key, ...given }, context) =>
    answer({ type: 'input.answer', ...given }, { sessionId, id: given.inputId, key }, context),
  );
}

/** Whether an event is about the call, or about what a tool server asks in one. */
function isAbout(id: string): (event: SessionEvent) => boolean {
  return (event) =>
    ('inputId' in event && event.inputId === id) || ('callId' in event && event.callId === id);
}

function answerForSessions(
  bus: LocalBus,
  { journal, sessions, archive, readers, requests }: RequestDeps,
): void {
  bus.handle('approval.list', (wanted) => archive.approvals(wanted));
  bus.handle('input.list', (wanted) => archive.inputs(wanted));
  bus.handle('session.list', (wanted) => archive.list(wanted));
  bus.handle('session.count', ({ prefix }) => journal.countSessions(prefix));
  bus.handle('session.rename', ({ sessionId, title }, context) =>
    archive.rename(sessionId, title, requestOrigin(context)),
  );
  bus.handle('session.describe', ({ sessionId, metadata, key }, context) =>
    doOnce(requests, context, {
      key,
      subject: ['session.describe', sessionId],
      answer: z.undefined(),
      repeatable: true,
      run: async (origin) => {
        const session = await sessions.session(sessionId);
        await session.describe(metadata, origin);
        return undefined;
      },
    }),
  );
  bus.handle('session.extend', ({ sessionId, given, key }, context) =>
    doOnce(requests, context, {
      key,
      subject: ['session.extend', sessionId],
      answer: Extended,
      repeatable: false,
      run: async (origin) => ({ seq: await sessions.extend(sessionId, given, origin) }),
    }),
  );
  const views = new ViewTurns();
  bus.handle('session.view', ({ sessionId, at }, context) =>
    views.run(context, () => archive.view(sessionId, at)),
  );
  bus.handle('session.fork', ({ from, at, to, ephemeral, key }, context) =>
    doOnce(requests, context, {
      key,
      subject: ['session.fork', from],
      answer: Fork,
      repeatable: false,
      run: (origin) => archive.fork({ from, at, to, ephemeral }, origin),
    }),
  );
  bus.handle('session.delete', async ({ sessionId }, context) => {
    await archive.delete(sessionId, requestOrigin(context));
    return undefined;
  });
  bus.handle('session.position', ({ sessionId }) => sessions.position(sessionId));
  bus.handle('session.rest', async ({ sessionId }) => {
    await sessions.atRest(sessionId);
    return undefined;
  });
  bus.handle('session.events', ({ sessionId, afterSeq, limit }) =>
    readers.run(() => someEvents(journal, { sessionId, afterSeq, limit })),
  );
}

/** What the MCP gateway passes on. */
function answerForGateway(
  bus: LocalBus,
  { supervisor: { servers }, forwarded, watched, clientCalls, callableTools, log }: RequestDeps,
): void {
  bus.handle('mcp-server.features', async () => featuresOf(servers.connected()));
  bus.handle('mcp-server.offers', ({ kind }) => offersOf(servers.connected(), kind, log));
  bus.handle('mcp-server.request', (asked, context) => forwarded.forward(asked, context));
  bus.handle('resource.watch', (watch, context) =>
    peerAnswer(async () => {
      await watched.watch(watch, context);
      return {};
    }),
  );
  bus.handle('resource.unwatch', async (watch) => {
    watched.unwatch(watch);
    return undefined;
  });
  bus.handle('tool.callable', async () => callableTools());
  bus.handle('tool.answer', async (answered, context) => forwarded.answer(answered, context));
  bus.handle('tool.cancel', async ({ callId }) => clientCalls.cancel(callId) || forwarded.cancel(callId));
}

function answerForServers(bus: LocalBus, { supervisor, clientCalls, requests }: RequestDeps): void {
  const { servers } = supervisor;
  bus.handle('mcp-server.list', async () => servers.records());
  bus.handle('mcp-server.connect', ({ name, config, key }, context) =>
    doOnce(requests, context, {
      key,
      subject: ['mcp-server.connect'],
      answer: McpServerRecord,
      repeatable: false,
      run: (origin) => supervisor.connect(name, config, origin),
    }),
  );
  bus.handle('mcp-server.disconnect', ({ serverId, seen }, context) =>
    supervisor.disconnect(serverId, requestOrigin(context), seen),
  );
  bus.handle('mcp-server.reconnect', ({ serverId, seen, key }, context) =>
    doOnce(requests, context, {
      key,
      subject: ['mcp-server.reconnect', serverId],
      answer: McpServerRecord,
      repeatable: true,
      run: (origin) => supervisor.reconnect(serverId, origin, seen),
    }),
  );
  bus.handle('mcp-server.authorize', (response) => supervisor.authorize(response));
  bus.handle('mcp-server.log', async ({ serverId, after }) => servers.logOf(serverId, after));
  bus.handle('tool.list', async ({ serverId }) => servers.toolsOf(serverId));
  bus.handle('tool.execute', ({ key, ...call }, context) => {
    const { agentPath, trace } = context;
    const origin = requestOrigin(context);
    const scope = keyScope(context, 'tool.execute', call.serverId, call.toolName);
    return requests.once({ key, scope, answer: ToolExecution, origin }, () =>
      clientCalls.prepare({ ...call, agentPath, trace }),
    );
  });
}

function answerForService(
  bus: LocalBus,
  { machines, readiness, warnings, logSize, backups, describeAgent, exportConfig }: RequestDeps,
): void {
  bus.watchMachines((onState) => machines.watchStates(onState));
  bus.handle('readiness.check', () => readiness.problems());
  bus.handle('warning.list', async () => warnings());
  bus.handle('agent.describe', async () => describeAgent());
  bus.handle('log.size', () => logSize());
  bus.handle('log.backup', () => backups.backup());
  bus.handle('config.export', async () => exportConfig());
}
