import { isAccessRefusal } from '../../core/access/audit-entry.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import { isOwn } from '../../core/access/session-names.ts';
import { asServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { beginningOf } from '../../core/shorten.ts';
import type { AuditRecord } from '../../ports/audit.ts';
import { auditOf } from '../../ports/request-rules.ts';
import type { RequestOf, RequestType } from '../../ports/service-requests.ts';

/** Fields that say what a request is about, besides its session. None of them is content. */
type SubjectField =
  | 'serverId'
  | 'method'
  | 'toolName'
  | 'name'
  | 'keyId'
  | 'grantId'
  | 'agentId'
  | 'callId'
  | 'inputId'
  | 'configId'
  // With whom a session is shared, and for what.
  | 'principal'
  | 'role'
  | 'access'
  // The session that a fork makes.
  | 'to';

type SubjectOf<T extends RequestType> = Extract<keyof RequestOf<T>, SubjectField>;

/** What each request is about, in this order. Each one that has such a field stands here. */
const SUBJECTS: {
  readonly [T in RequestType as SubjectOf<T> extends never ? never : T]: readonly SubjectOf<T>[];
} = {
  'approval.answer': ['callId'],
  'tool-call.answer': ['callId'],
  'input.answer': ['inputId'],
  'session.fork': ['to'],
  'mcp-server.connect': ['name'],
  'mcp-server.disconnect': ['serverId'],
  'mcp-server.reconnect': ['serverId'],
  'mcp-server.log': ['serverId'],
  'mcp-server.request': ['serverId', 'method', 'callId'],
  'tool.list': ['serverId'],
  'tool.execute': ['serverId', 'toolName', 'callId'],
  'tool.answer': ['callId'],
  'tool.cancel': ['callId'],
  'resource.watch': ['serverId'],
  'resource.unwatch': ['serverId'],
  'agent.reload': ['agentId'],
  'grant.create': ['principal', 'role', 'access'],
  'grant.revoke': ['grantId'],
  'push.end': ['configId'],
  'key.create': ['name'],
  'key.revoke': ['keyId'],
};

const subjects: { readonly [T in RequestType]?: readonly string[] } = SUBJECTS;

/** Most characters of a subject. Clients choose names of any length. */
const MAX_CHARACTERS = 200;

/** What the trail says about a request. Null if it need not be recorded. @param ids the sessions that it names. */
export function auditEntry(
  type: RequestType,
  { request, ids, client }: { request: object; ids: readonly SessionId[]; client: RequestContext },
  thrown?: unknown,
): AuditRecord | null {
  const error = thrown === undefined ? undefined : asServiceError(thrown);
  const kind = auditOf(type);
  const isRefused = error !== undefined && isAccessRefusal(error.code);
  const isRecorded =
    isRefused || kind === 'done' || (kind === 'read' && ids.some((id) => !isOwn(id, client)));
  if (!isRecorded) return null;
  const [sessionId] = ids;
  return {
    ...auditedClient(client),
    what: type,
    ...(sessionId !== undefined && { sessionId }),
    ...subjectOf(type, request),
    ...('approved' in request && typeof request.approved === 'boolean' && { approved: request.approved }),
    outcome: error?.code ?? 'ok',
    // Other errors may quote what was sent.
    ...(isRefused && reasonOf(error.details)),
  };
}

function subjectOf(type: RequestType, request: object): Pick<AuditRecord, 'subject'> {
  const fields = subjects[type];
  if (!fields) return {};
  const said = fields
    .map((field): unknown => Reflect.get(request, field))
    .filter((value) => typeof value === 'string');
  return said.length === 0 ? {} : { subject: beginningOf(said.join(' '), MAX_CHARACTERS) };
}

function reasonOf({ scope, reason, issue }: Readonly<Record<string, unknown>>): Pick<AuditRecord, 'reason'> {
  const said = scope ?? reason ?? issue;
  return typeof said === 'string' ? { reason: said } : {};
}
