import type { Tool } from '../../core/tool-call/tool.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import type { Bus } from '../../runtime/bus/bus.ts';
import { ConnectServerRequest } from '../../wire/requests.ts';
import type {
  ExecuteToolResponse,
  ServerResponse,
  ServersResponse,
  ToolRecord,
  ToolsResponse,
} from '../../wire/responses.ts';
import { type HttpRequest, type HttpResponse, jsonResponse, now } from '../http/http-message.ts';
import { keyOfRequest } from '../http/idempotency.ts';
import { parseFields, readJsonObject } from '../http/request-body.ts';
import type { Parameters, Route } from '../http/router.ts';
import { traceOf } from '../http/trace-headers.ts';

/** Tool servers and their tools. */
export function serverRoutes(bus: Bus): Route[] {
  const server = '/api/mcp/servers/:serverId';
  return [
    { method: 'GET', path: '/api/mcp/servers', handler: () => listServers(bus) },
    { method: 'POST', path: '/api/connect-server', handler: (request) => connectServer(bus, request) },
    { method: 'DELETE', path: server, handler: (_, at) => disconnectServer(bus, at) },
    {
      method: 'POST',
      path: `${server}/reconnect`,
      handler: (request, at) => reconnectServer(bus, request, at),
    },
    { method: 'GET', path: `${server}/tools`, handler: (_, at) => listTools(bus, at) },
    {
      method: 'POST',
      path: `${server}/tools/:toolName/execute`,
      handler: (request, at) => executeTool(bus, request, at),
    },
  ];
}

async function listServers(bus: Bus): Promise<HttpResponse> {
  const servers = await bus.send('mcp-server.list', {});
  return jsonResponse<ServersResponse>({ servers, timestamp: now() });
}

async function connectServer(bus: Bus, request: HttpRequest): Promise<HttpResponse> {
  const server = parseFields(ConnectServerRequest, await readJsonObject(request));
  const key = await keyOfRequest(request, server);
  return serverResponse(await bus.send('mcp-server.connect', { ...server, key }));
}

async function reconnectServer(bus: Bus, request: HttpRequest, at: Parameters): Promise<HttpResponse> {
  const { serverId = '' } = at;
  const key = await keyOfRequest(request, {});
  return serverResponse(await bus.send('mcp-server.reconnect', { serverId, key }));
}

async function disconnectServer(bus: Bus, { serverId = '' }: Parameters): Promise<HttpResponse> {
  return serverResponse(await bus.send('mcp-server.disconnect', { serverId }));
}

function serverResponse(server: McpServerRecord): HttpResponse {
  return jsonResponse<ServerResponse>({ status: server.status, name: server.name, server, timestamp: now() });
}

async function listTools(bus: Bus, { serverId = '' }: Parameters): Promise<HttpResponse> {
  const tools = await bus.send('tool.list', { serverId });
  return jsonResponse<ToolsResponse>({ tools: tools.map(toolRecord), timestamp: now() });
}

function toolRecord({ name, description, inputSchema }: Tool): ToolRecord {
  return { id: name, name, description, inputSchema };
}

async function executeTool(bus: Bus, request: HttpRequest, at: Parameters): Promise<HttpResponse> {
  const { serverId: server = '', toolName = '' } = at;
  const args = await readJsonObject(request, { optional: true });
  const { serverId, result, durationMs } = await bus.send('tool.execute', {
    serverId: server,
    toolName,
    arguments: args,
    key: await keyOfRequest(request, args),
    trace: traceOf(request),
  });
  return jsonResponse<ExecuteToolResponse>({
    success: true,
    data: result,
    execution: { toolName, serverId, duration: durationMs },
    timestamp: now(),
  });
}
