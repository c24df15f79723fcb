import { COUNTS_FOR } from '../../core/access/shares.ts';
import type { LimitHolder } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';

/** Most MCP sessions, and most open subscriptions. */
export const MAX_IN_ALL = 1_000;
const MAX_OF_PRINCIPAL = 100;

/** How many of them one client may have, where clients are authenticated: nobody can take the places of all others. */
export interface ClientShare {
  readonly of: LimitHolder;
  readonly most: number;
  /** Whether what the other has counts for the client. */
  readonly includes: (client: RequestContext, other: RequestContext) => boolean;
}

/** The smallest first. */
export const CLIENT_SHARES: readonly ClientShare[] = [
  {
    of: 'principal',
    most: MAX_OF_PRINCIPAL,
    includes: COUNTS_FOR.principal,
  },
  {
    // The only tenant of a service has nearly all, and others have room for one principal at least.
    of: 'tenant',
    most: MAX_IN_ALL - MAX_OF_PRINCIPAL,
    includes: COUNTS_FOR.tenant,
  },
];
