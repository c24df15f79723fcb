import { isRefusal } from '../../core/access/audit-entry.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import { ownPrefix } from '../../core/access/session-names.ts';
import { asServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { AuditRecord } from '../../ports/audit.ts';
import type { RequestType } from '../../ports/service-requests.ts';

/** `done`: recorded always. `read`: recorded where somebody reads the session of somebody else. `refused`: only then. */
const AUDITED: Readonly<Record<RequestType, 'done' | 'read' | 'refused'>> = {
  'turn.start': 'done',
  'turn.cancel': 'done',
  'approval.answer': 'done',
  'tool-call.answer': 'done',
  'input.answer': 'done',
  'input.list': 'refused',
  'approval.list': 'refused',
  'session.reset': 'done',
  'session.list': 'refused',
  'session.rename': 'done',
  'session.describe': 'done',
  'session.extend': 'done',
  'session.count': 'refused',
  'session.view': 'read',
  'session.fork': 'done',
  'session.delete': 'done',
  'session.position': 'refused',
  'session.rest': 'refused',
  'session.events': 'read',
  'mcp-server.list': 'refused',
  'mcp-server.connect': 'done',
  'mcp-server.disconnect': 'done',
  'mcp-server.reconnect': 'done',
  'mcp-server.authorize': 'done',
  'mcp-server.log': 'refused',
  'tool.list': 'refused',
  'tool.execute': 'done',
  'tool.cancel': 'done',
  'tool.callable': 'refused',
  'tool.answer': 'done',
  'resource.watch': 'refused',
  'mcp-server.features': 'refused',
  'mcp-server.offers': 'refused',
  'mcp-server.request': 'done',
  'readiness.check': 'refused',
  'warning.list': 'refused',
  'agent.list': 'refused',
  'agent.reload': 'done',
  'node.list': 'refused',
  'agent.describe': 'refused',
  'log.size': 'refused',
  'log.backup': 'done',
  'config.export': 'done',
  'grant.create': 'done',
  'grant.list': 'refused',
  'grant.revoke': 'done',
  'push.register': 'done',
  'push.list': 'refused',
  'push.end': 'done',
  'push.keys': 'refused',
  'key.create': 'done',
  'key.list': 'done',
  'key.revoke': 'done',
};

/** Fields of requests that say what they are about, besides the session. None of them is content. */
const SUBJECTS = [
  ...[
    'serverId',
    'method',
    'toolName',
    'name',
    'keyId',
    'grantId',
    'agentId',
    'callId',
    'inputId',
    'configId',
  ],
  // With whom a session is shared, and for what.
  ...['principal', 'role', 'access'],
  // The session that a fork makes.
  'to',
];

/** Most characters of a subject. Clients choose names of any length. */
const MOST_CHARACTERS = 200;

/** What the trail says about a request. Null if it need not be recorded. @param ids the sessions that it names. */
export function auditEntry(
  type: RequestType,
  { request, ids, client }: { request: object; ids: readonly SessionId[]; client: RequestContext },
  thrown?: unknown,
): AuditRecord | null {
  const error = thrown === undefined ? undefined : asServiceError(thrown);
  const kind = AUDITED[type];
  const isRefused = error !== undefined && isRefusal(error.code);
  const isRecorded =
    isRefused || kind === 'done' || (kind === 'read' && ids.some((id) => !id.startsWith(ownPrefix(client))));
  if (!isRecorded) return null;
  const [sessionId] = ids;
  return {
    ...auditedClient(client),
    what: type,
    ...(sessionId !== undefined && { sessionId }),
    ...subjectOf(request),
    ...('approved' in request && typeof request.approved === 'boolean' && { approved: request.approved }),
    outcome: error?.code ?? 'ok',
    // Other errors may quote what was sent.
    ...(isRefused && reasonOf(error.details)),
  };
}

function subjectOf(request: object): Pick<AuditRecord, 'subject'> {
  const said: string[] = [];
  for (const name of SUBJECTS) {
    const value: unknown = Reflect.get(request, name);
    if (typeof value === 'string') said.push(value);
  }
  return said.length === 0 ? {} : { subject: said.join(' ').slice(0, MOST_CHARACTERS) };
}

function reasonOf({ scope, reason, issue }: Readonly<Record<string, unknown>>): Pick<AuditRecord, 'reason'> {
  const said = scope ?? reason ?? issue;
  return typeof said === 'string' ? { reason: said } : {};
}
