import type { Tool, ToolExecution } from '../../core/tool-call/tool.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { ConnectServerRequest, ServerLogQuery } from '../../wire/requests.ts';
import type {
  ExecuteToolResponse,
  ServerLogResponse,
  ServerResponse,
  ServersResponse,
  ToolRecord,
  ToolsResponse,
} from '../../wire/responses.ts';
import { acceptsEventStream } from '../http/content-negotiation.ts';
import { jsonResponse, now, type ServedRequest } from '../http/http-message.ts';
import { keyOfRequest } from '../http/idempotency-header.ts';
import { readFields, readJsonObject } from '../http/request-body.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Parameters, Route } from '../http/router.ts';
import { unlessRefusedOrLeft } from '../security/held-session.ts';
import { toolCallStream } from '../sse/tool-call-stream.ts';

/** Tool servers and their tools. */
export function serverRoutes(bus: Bus): Route[] {
  const server = '/api/mcp/servers/:serverId';
  return [
    {
      method: 'GET',
      path: '/api/mcp/servers',
      access: scopeOf('mcp-server.list'),
      handler: (request) => listServers(bus, request),
    },
    {
      method: 'POST',
      path: '/api/connect-server',
      access: scopeOf('mcp-server.connect'),
      handler: (request) => connectServer(bus, request),
    },
    {
      method: 'DELETE',
      path: server,
      access: scopeOf('mcp-server.disconnect'),
      handler: (request, at) => disconnectServer(bus, request, at),
    },
    {
      method: 'POST',
      path: `${server}/reconnect`,
      access: scopeOf('mcp-server.reconnect'),
      handler: (request, at) => reconnectServer(bus, request, at),
    },
    {
      method: 'GET',
      path: `${server}/logs`,
      access: scopeOf('mcp-server.log'),
      handler: (request, at) => readLog(bus, request, at),
    },
    {
      method: 'GET',
      path: `${server}/tools`,
      access: scopeOf('tool.list'),
      handler: (request, at) => listTools(bus, request, at),
    },
    {
      method: 'POST',
      path: `${server}/tools/:toolName/execute`,
      access: scopeOf('tool.execute'),
      takesArguments: true,
      mayStream: true,
      waitsForTurn: true,
      handler: (request, at) => executeTool(bus, request, at),
    },
  ];
}

async function listServers(bus: Bus, { context }: ServedRequest): Promise<HttpResponse> {
  const servers = await bus.send('mcp-server.list', {}, context);
  return jsonResponse<ServersResponse>({ servers, timestamp: now() });
}

async function connectServer(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  const server = await readFields(ConnectServerRequest, request);
  const key = await keyOfRequest(request, server);
  return serverResponse(await bus.send('mcp-server.connect', { ...server, key }, request.context));
}

async function reconnectServer(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const { serverId = '' } = at;
  const key = await keyOfRequest(request, {});
  return serverResponse(await bus.send('mcp-server.reconnect', { serverId, key }, request.context));
}

async function disconnectServer(
  bus: Bus,
  { context }: ServedRequest,
  { serverId = '' }: Parameters,
): Promise<HttpResponse> {
  return serverResponse(await bus.send('mcp-server.disconnect', { serverId }, context));
}

function serverResponse(server: McpServerRecord): HttpResponse {
  return jsonResponse<ServerResponse>({ status: server.status, name: server.name, server, timestamp: now() });
}

async function readLog(
  bus: Bus,
  request: ServedRequest,
  { serverId = '' }: Parameters,
): Promise<HttpResponse> {
  const { after } = parseQuery(ServerLogQuery, request);
  const lines = await bus.send('mcp-server.log', { serverId, after }, request.context);
  return jsonResponse<ServerLogResponse>({ lines, timestamp: now() });
}

async function listTools(
  bus: Bus,
  { context }: ServedRequest,
  { serverId = '' }: Parameters,
): Promise<HttpResponse> {
  const tools = await bus.send('tool.list', { serverId }, context);
  return jsonResponse<ToolsResponse>({ tools: tools.map(toolRecord), timestamp: now() });
}

function toolRecord({ name, description, inputSchema }: Tool): ToolRecord {
  return { id: name, name, description, inputSchema };
}

/** Answers with JSON, or with an event stream if the client asks for one. */
async function executeTool(bus: Bus, request: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const { serverId = '', toolName = '' } = at;
  const { context } = request;
  const args = await readJsonObject(request, { optional: true });
  const call = { serverId, toolName, arguments: args, key: await keyOfRequest(request, args) };
  const bodyOf = (execution: ToolExecution) => executionBody(toolName, execution);
  if (await acceptsEventStream(request))
    return toolCallStream({ bus, context, client: request, bodyOf }, call);
  const execution = await unlessRefusedOrLeft(bus.send('tool.execute', call, context), request);
  return jsonResponse<ExecuteToolResponse>(bodyOf(execution));
}

function executionBody(
  toolName: string,
  { serverId, result, durationMs }: ToolExecution,
): ExecuteToolResponse {
  return {
    success: true,
    data: result,
    execution: { toolName, serverId, duration: durationMs },
    timestamp: now(),
  };
}
