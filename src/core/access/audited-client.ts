import { ONLY_AGENT } from '../agent-description.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { AuditEntry } from './audit-entry.ts';

/** The part of an audit entry that says who it was. */
export function auditedClient({
  principal,
  tenant,
  rights,
  address,
  agent,
}: RequestContext): Pick<AuditEntry, 'principal' | 'tenant' | 'credential' | 'address' | 'agentId'> {
  return {
    principal,
    tenant,
    ...(rights && { credential: rights.credential }),
    ...(address !== undefined && { address }),
    ...(agent !== ONLY_AGENT && { agentId: agent }),
  };
}
