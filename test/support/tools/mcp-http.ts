import type { IncomingMessage } from 'node:http';
import { openResponse, type RawResponse, rawRequest } from '../sockets/raw-http.ts';

export const MCP_HEADERS = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
};

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw client', version: '1.0.0' },
  },
};

/** POST of JSON-RPC messages to `/mcp` without the SDK, with any headers. */
export function postMcp(
  port: number,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<RawResponse> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return rawRequest(port, { method: 'POST', path: '/mcp', headers: { ...MCP_HEADERS, ...headers }, body });
}

/** @returns the headers that name a new MCP session. */
export async function initializeMcp(
  port: number,
  protocolVersion = INITIALIZE.params.protocolVersion,
  more: Record<string, string> = {},
): Promise<Record<string, string>> {
  const params = { ...INITIALIZE.params, protocolVersion };
  const { status, headers } = await postMcp(port, { ...INITIALIZE, params }, more);
  const id = headers['mcp-session-id'];
  if (status !== 200 || typeof id !== 'string') throw new Error(`not initialized: ${status}`);
  return { 'Mcp-Session-Id': id };
}

/** The response to a request as soon as its head is there; its body is still to be read. */
export async function openMcp(
  port: number,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  message?: unknown,
): Promise<IncomingMessage> {
  const body = message === undefined ? {} : { body: JSON.stringify(message) };
  const options = { method, path: '/mcp', headers: { ...MCP_HEADERS, ...headers }, ...body };
  return await openResponse(port, options);
}
