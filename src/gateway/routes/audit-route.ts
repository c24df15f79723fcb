import type { AuditEntry } from '../../core/access/audit-entry.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import type { Audit } from '../../ports/audit.ts';
import { AuditQuery } from '../../wire/audit.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Route } from '../http/router.ts';
import { EXPORT_TYPE } from './session-export.ts';

const PATH = '/api/audit';
/** Lines are sent together up to this length. */
const CHUNK_CHARACTERS = 64 * 1024;

/** `GET /api/audit`: who did what in the client's tenant, and what was refused, as JSON Lines. */
export function auditRoute(audit: Audit): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'admin',
    mayStream: true,
    handler: async (request) => {
      const { since, until, principal, session: sessionId } = parseQuery(AuditQuery, request);
      const { tenant } = request.context;
      request.use?.openStream();
      const entries = await audit.read({
        ...{ tenant, principal, sessionId },
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
      });
      audit.record({ ...auditedClient(request.context), what: `GET ${PATH}`, outcome: 'ok' });
      const body = ReadableStream.from(lines(entries, request.credential?.lost));
      return { status: 200, headers: { 'Content-Type': EXPORT_TYPE }, body, stream: 'bytes' };
    },
  };
}

/** @param lost aborted when the client may read no more: then the answer is broken off. */
async function* lines(
  entries: AsyncIterable<AuditEntry>,
  lost: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  let chunk = '';
  for await (const entry of entries) {
    lost?.throwIfAborted();
    chunk += `${JSON.stringify(entry)}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  if (chunk !== '') yield Buffer.from(chunk);
}
