import type { Scope } from '../core/access/scopes.ts';
import type { RequestType } from './service-requests.ts';

/** What a client needs for each request. Null: no more than to be somebody. */
export const REQUEST_SCOPES: Readonly<Record<RequestType, Scope | null>> = {
  'turn.start': 'sessions:write',
  'turn.cancel': 'sessions:write',
  'approval.answer': 'approvals:decide',
  'approval.list': 'sessions:read',
  'session.reset': 'sessions:write',
  'session.list': 'sessions:read',
  'session.rename': 'sessions:write',
  'session.view': 'sessions:read',
  'session.fork': 'sessions:write',
  'session.delete': 'sessions:write',
  'session.position': 'sessions:read',
  'session.rest': 'sessions:read',
  'session.events': 'sessions:read',
  'mcp-server.list': 'servers:read',
  'mcp-server.connect': 'servers:write',
  'mcp-server.disconnect': 'servers:write',
  'mcp-server.reconnect': 'servers:write',
  'mcp-server.authorize': 'servers:write',
  // What a server says may hold what others asked of it.
  'mcp-server.log': 'servers:write',
  'tool.list': 'servers:read',
  'tool.execute': 'tools:execute',
  'tool.cancel': 'tools:execute',
  'readiness.check': null,
  'warning.list': null,
  'agent.describe': null,
  'log.size': 'metrics:read',
  'log.backup': 'admin',
  'config.export': 'config:read',
  'key.create': 'admin',
  'key.list': 'admin',
  'key.revoke': 'admin',
};
