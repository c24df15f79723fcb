import type { AgentIdentity } from '../../core/agent-description.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Route } from '../http/router.ts';

/** `GET /` for clients other than browsers, and for all clients if the console was not built. */
export function indexRoute(version: string, identity: (context: RequestContext) => AgentIdentity): Route {
  // Browsers get the page.
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', Vary: 'Accept' };
  return {
    method: 'GET',
    path: '/',
    access: 'open',
    handler: async ({ context }) => ({ status: 200, headers, body: textOf(version, identity(context)) }),
  };
}

function textOf(version: string, { name, description }: AgentIdentity): string {
  return [
    `agent-service ${version}`,
    ...(name === 'agent-service'
      ? []
      : [`agent: ${description === undefined ? name : `${name}, ${description}`}`]),
    '',
    'POST /api/message-sync   send a message, get the reply: {"message": "hello"}',
    'GET  /api/mcp/servers    the tool servers',
    'GET  /api/agent          the agent: its model, prompt and tools',
    'GET  /api/config.yaml    the agent file, without secrets',
    'GET  /api/health         the health of the service',
    'WebSocket /              stream replies: {"type": "message", "content": "hello"}',
    'GET  /docs               the whole interface; /openapi.json and /asyncapi.json for programs',
    '/mcp                     the agent as an MCP server',
    '',
  ].join('\n');
}
