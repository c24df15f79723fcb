import type { LimitHolder } from '../limit-errors.ts';
import type { Owner } from './session-names.ts';

/**
 * How much one principal or tenant may take of what all clients share, so that nobody can take it from all others. The only
 * tenant of a service has most of it, and others have room for one principal at least.
 */
export const SHARES: Readonly<Record<LimitHolder, number>> = { principal: 1 / 4, tenant: 3 / 4 };

/** Whether two clients share this limit. */
export const COUNTS_FOR: Readonly<Record<LimitHolder, (one: Owner, other: Owner) => boolean>> = {
  principal: (one, other) => one.principal === other.principal && one.tenant === other.tenant,
  tenant: (one, other) => one.tenant === other.tenant,
};
