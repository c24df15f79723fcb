import type { AuditEntry } from '../../core/access/audit-entry.ts';
import { auditedClient } from '../../core/access/audited-client.ts';
import type { Audit } from '../../ports/audit.ts';
import { AuditQuery } from '../../wire/audit.ts';
import { jsonLines } from '../http/json-lines.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Route } from '../http/router.ts';

const PATH = '/api/audit';

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
        tenant,
        principal,
        sessionId,
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
      });
      audit.record({ ...auditedClient(request.context), what: `GET ${PATH}`, outcome: 'ok' });
      return jsonLines(lines(entries, request.credential?.lost));
    },
  };
}

/** @param lost aborted when the client may read no more. */
async function* lines(
  entries: AsyncIterable<AuditEntry>,
  lost: AbortSignal | undefined,
): AsyncGenerator<string, void, void> {
  for await (const entry of entries) {
    lost?.throwIfAborted();
    yield `${JSON.stringify(entry)}\n`;
  }
}
