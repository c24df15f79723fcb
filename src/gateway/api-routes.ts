import {
  ConnectServerRequest,
  MessageRequest,
  MessageSyncRequest,
  ResetRequest,
} from '../contract/requests.ts';
import type { McpServerRecord } from '../contract/service-requests.ts';
import type { Tool } from '../contract/tool.ts';
import type { Bus } from '../runtime/bus.ts';
import { type HttpRequest, type HttpResponse, jsonResponse } from './http-message.ts';
import { checkImageSize } from './image-size.ts';
import { parseFields, readJsonObject } from './request-body.ts';
import type { Parameters, Route } from './router.ts';
import { answerTurn } from './turn-answer.ts';

export interface ApiParts {
  readonly bus: Bus;
  readonly maxImageBytes: number | false;
}

const now = (): string => new Date().toISOString();

/** The REST interface: each endpoint is one entry here. */
export function apiRoutes(parts: ApiParts): Route[] {
  const { bus } = parts;
  return [
    { method: 'POST', path: '/api/message-sync', handler: (request) => messageSync(parts, request) },
    { method: 'POST', path: '/api/message', handler: (request) => message(bus, request) },
    { method: 'POST', path: '/api/reset', handler: (request) => reset(bus, request) },
    { method: 'GET', path: '/api/mcp/servers', handler: () => listServers(bus) },
    { method: 'POST', path: '/api/connect-server', handler: (request) => connectServer(bus, request) },
    { method: 'DELETE', path: '/api/mcp/servers/:serverId', handler: (_, at) => disconnectServer(bus, at) },
    {
      method: 'POST',
      path: '/api/mcp/servers/:serverId/reconnect',
      handler: (_, at) => reconnectServer(bus, at),
    },
    { method: 'GET', path: '/api/mcp/servers/:serverId/tools', handler: (_, at) => listTools(bus, at) },
    {
      method: 'POST',
      path: '/api/mcp/servers/:serverId/tools/:toolName/execute',
      handler: (request, at) => executeTool(bus, request, at),
    },
    { method: 'GET', path: '/api/config.yaml', handler: () => exportConfig(bus) },
  ];
}

async function messageSync({ bus, maxImageBytes }: ApiParts, request: HttpRequest): Promise<HttpResponse> {
  const body = parseFields(MessageSyncRequest, await readJsonObject(request));
  const { message: text, sessionId, imageData: image } = body;
  checkImageSize(image, maxImageBytes);
  const response = await answerTurn(bus, {
    sessionId,
    turnId: crypto.randomUUID(),
    text,
    ...(image && { image }),
  });
  return jsonResponse({ success: true, response, timestamp: now() });
}

async function message(bus: Bus, request: HttpRequest): Promise<HttpResponse> {
  const { message: text, sessionId } = parseFields(MessageRequest, await readJsonObject(request));
  await bus.send('turn.start', { sessionId, turnId: crypto.randomUUID(), text });
  return jsonResponse({ status: 'processing', timestamp: now() });
}

async function reset(bus: Bus, request: HttpRequest): Promise<HttpResponse> {
  const { sessionId } = parseFields(ResetRequest, await readJsonObject(request, { optional: true }));
  await bus.send('session.reset', { sessionId });
  return jsonResponse({ status: 'reset initiated', timestamp: now() });
}

async function listServers(bus: Bus): Promise<HttpResponse> {
  const servers = await bus.send('mcp-server.list', {});
  return jsonResponse({ servers, timestamp: now() });
}

async function connectServer(bus: Bus, request: HttpRequest): Promise<HttpResponse> {
  const { name, config } = parseFields(ConnectServerRequest, await readJsonObject(request));
  return serverResponse(await bus.send('mcp-server.connect', { name, config }));
}

async function reconnectServer(bus: Bus, { serverId = '' }: Parameters): Promise<HttpResponse> {
  return serverResponse(await bus.send('mcp-server.reconnect', { serverId }));
}

async function disconnectServer(bus: Bus, { serverId = '' }: Parameters): Promise<HttpResponse> {
  return serverResponse(await bus.send('mcp-server.disconnect', { serverId }));
}

function serverResponse(server: McpServerRecord): HttpResponse {
  return jsonResponse({ status: server.status, name: server.name, server, timestamp: now() });
}

async function listTools(bus: Bus, { serverId = '' }: Parameters): Promise<HttpResponse> {
  const tools = await bus.send('tool.list', { serverId });
  return jsonResponse({ tools: tools.map(toolRecord), timestamp: now() });
}

function toolRecord({ name, description, inputSchema }: Tool): Record<string, unknown> {
  return { id: name, name, description, inputSchema };
}

async function executeTool(bus: Bus, request: HttpRequest, at: Parameters): Promise<HttpResponse> {
  const { serverId: server = '', toolName = '' } = at;
  const args = await readJsonObject(request, { optional: true });
  const begun = performance.now();
  const { serverId, result } = await bus.send('tool.execute', {
    serverId: server,
    toolName,
    arguments: args,
  });
  const duration = Math.round((performance.now() - begun) * 1000) / 1000;
  return jsonResponse({
    success: true,
    data: result,
    execution: { toolName, serverId, duration },
    timestamp: now(),
  });
}

async function exportConfig(bus: Bus): Promise<HttpResponse> {
  const body = await bus.send('config.export', {});
  return { status: 200, headers: { 'Content-Type': 'application/yaml' }, body };
}
