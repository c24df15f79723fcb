import { isRefusal } from '../../core/access/audit-entry.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import { ownPrefix } from '../../core/access/session-names.ts';
import { asServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { beginningOf } from '../../core/shorten.ts';
import type { AuditRecord } from '../../ports/audit.ts';
import { auditOf } from '../../ports/request-rules.ts';
import type { RequestType } from '../../ports/service-requests.ts';

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
  const kind = auditOf(type);
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
  return said.length === 0 ? {} : { subject: beginningOf(said.join(' '), MOST_CHARACTERS) };
}

function reasonOf({ scope, reason, issue }: Readonly<Record<string, unknown>>): Pick<AuditRecord, 'reason'> {
  const said = scope ?? reason ?? issue;
  return typeof said === 'string' ? { reason: said } : {};
}
