import {
  type JSONRPCRequest,
  type jsonSchemaValidator,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentIdentity } from '../../core/agent-description.ts';
import type { Logger } from '../../ports/logger.ts';
import type { AgentSurfaceDeps, McpAgentCard } from './agent/agent-deps.ts';
import { CHAT_TOOL_NAME } from './agent/chat-tool-name.ts';
import { ChangeNotices } from './change-notices.ts';
import { type McpEra, mcpCall } from './mcp-call.ts';
import type { McpClient } from './mcp-client.ts';
import { asMcpError } from './mcp-error.ts';
import { LOG_LEVELS, type LogLevel } from './mcp-object.ts';
import { type McpHandler, type McpSurface, TASKS_EXTENSION } from './mcp-surface.ts';
import { olderResult } from './older-result.ts';
import { MAX_WATCHED_URI } from './watched-uri.ts';

export interface McpServerDeps extends Pick<AgentSurfaceDeps, 'exposes'> {
  readonly surface: McpSurface;
  /** As the agent is now. */
  readonly card: () => McpAgentCard;
  readonly log: Logger;
}

/** Each list has one page, those of the gateway too, so no client has a cursor from here. */
const OnePage = z.looseObject({ cursor: z.undefined('no list here has a further page').optional() });
const Named = z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() });
const Uri = z.looseObject({ uri: z.string() });
const WatchedUri = z.looseObject({ uri: z.string().max(MAX_WATCHED_URI) });
const Anything = z.looseObject({});
const TaskRef = z.looseObject({ taskId: z.string() });
const LevelParams = z.looseObject({ level: z.enum(LOG_LEVELS) });

/** What the agent offers, as an MCP server for one client. The same in both eras. */
export function mcpServer({ surface, exposes, card, log }: McpServerDeps, client: McpClient): Server {
  const { era, context, isLasting } = client;
  const agent = card();
  const server = new RawServer(
    { ...nameOf(agent), title: agent.name, version: agent.version },
    {
      instructions: `${introduction(agent)}An AI agent (${agent.model}).${exposes.has('agent') ? ` Talk to it with the tool ${CHAT_TOOL_NAME}.` : ''}`,
      jsonSchemaValidator: noValidator,
      capabilities: capabilitiesOf(surface, era),
    },
  );
  // Bad requests, and answers to clients that have disconnected. The service can do nothing about them.
  server.onerror = (err) => log.debug({ err }, 'an MCP message could not be handled');
  let level: LogLevel | undefined;
  const calls = {
    era,
    opener: context,
    ownSessionId: client.ownSessionId,
    log,
    level: () => level,
    turnOf: client.turnOf,
    answerers: client.answerers,
    clientCapabilities: () => ({ ...server.getClientCapabilities() }),
  };
  const route: AddRoute = (method, params, handler) => {
    if (!handler) return;
    server.setRequestHandler(method, { params }, async (asked, ctx) => {
      const result = await handler(asked, mcpCall(calls, ctx)).catch(rethrow);
      return { ...(era === 'legacy' ? olderResult(result) : result) };
    });
  };
  addRoutes(route, surface);
  if (era === 'modern') addTaskRoutes(route, surface);
  else
    route('logging/setLevel', LevelParams, async (asked, call) => {
      level = asked.level;
      return (await surface.setLevel?.(asked, call)) ?? {};
    });
  if (isLasting) addSubscriptions(route, new ChangeNotices(server, surface, client));
  return server;
}

/** The SDK tells errors that are not of MCP as internal ones, and drops their details. */
function rethrow(thrown: unknown): never {
  throw asMcpError(thrown);
}

type AddRoute = <Params>(
  method: string,
  params: z.ZodType<Params>,
  handler: McpHandler<Params> | undefined,
) => void;

function addRoutes(route: AddRoute, surface: McpSurface): void {
  route('tools/list', OnePage, surface.listTools);
  route('tools/call', Named, surface.callTool);
  route('resources/list', OnePage, surface.listResources);
  route('resources/templates/list', OnePage, surface.listTemplates);
  route('resources/read', Uri, surface.readResource);
  route('prompts/list', OnePage, surface.listPrompts);
  route('prompts/get', Named, surface.getPrompt);
  route('completion/complete', Anything, surface.complete);
}

function addTaskRoutes(route: AddRoute, surface: McpSurface): void {
  route('tasks/get', TaskRef, surface.getTask);
  route('tasks/update', TaskRef, surface.updateTask);
  route('tasks/cancel', TaskRef, surface.cancelTask);
}

function addSubscriptions(route: AddRoute, notices: ChangeNotices): void {
  if (!notices.canSubscribe) return;
  route('resources/subscribe', WatchedUri, async (asked, call) => {
    await notices.watch(asked.uri, call);
    return {};
  });
  route('resources/unsubscribe', Uri, async ({ uri }) => {
    notices.unwatch(uri);
    return {};
  });
}

/** The SDK's server reads results with its own schemas, which drop fields that they do not know. This one does not. */
class RawServer extends Server {
  protected override _wrapHandler(_method: string, handler: Handler): Handler {
    return handler;
  }
}

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/**
 * Saves an Ajv instance for each client. The SDK uses it only to check answers of clients to its own questions, and the
 * questions here are not asked through it.
 */
const noValidator: jsonSchemaValidator = {
  getValidator() {
    throw new Error('no answer of an MCP client is checked here');
  },
};

function capabilitiesOf({ capabilities, getTask }: McpSurface, era: McpEra): ServerCapabilities {
  const extensions = era === 'modern' && getTask && { [TASKS_EXTENSION]: {} };
  return { logging: {}, ...capabilities, ...(extensions && { extensions }) };
}

function nameOf({ name, description }: AgentIdentity): AgentIdentity {
  return { name, ...(description !== undefined && { description }) };
}

function introduction({ name, description }: AgentIdentity): string {
  return description === undefined ? '' : `${name}: ${description} `;
}
