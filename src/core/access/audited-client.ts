import type { RequestContext } from '../request/request-context.ts';
import type { AuditEntry } from './audit-entry.ts';

type AuditedClient = Pick<AuditEntry, 'principal' | 'tenant' | 'credential' | 'address' | 'agentId'>;

/** Each message of a client asks for it. */
const known = new WeakMap<RequestContext, AuditedClient>();

/** The part of an audit entry that says who it was. */
export function auditedClient(client: RequestContext): AuditedClient {
  const before = known.get(client);
  if (before) return before;
  const { principal, tenant, rights, address, agent, agentPath } = client;
  const audited = {
    principal,
    tenant,
    ...(rights && { credential: rights.credential }),
    ...(address !== undefined && { address }),
    ...(agentPath !== undefined && { agentId: agent }),
  };
  known.set(client, audited);
  return audited;
}
