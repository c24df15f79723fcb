import { COUNTS_FOR } from '../../core/access/shares.ts';
import { type ClientLimit, fullService, fullShare, type LimitHolder } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';

/** Most MCP sessions, most open subscriptions, and most places of calls that wait for their clients. */
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

const RETRY_SECONDS = 60;

/** What a client has of something that all clients share. */
export interface TakenPlaces {
  readonly context: RequestContext;
  readonly places: number;
}

interface SharedPlaces extends Omit<ClientLimit, 'of'> {
  /** What is said when all clients together have everything. */
  readonly message: string;
  readonly reason: string;
}

/** Throws if the client has its whole share, or if all clients together have everything. */
export function requirePlace(
  client: RequestContext,
  taken: readonly TakenPlaces[],
  { message, reason, ...limit }: SharedPlaces,
): void {
  for (const { of, most, includes } of client.rights ? CLIENT_SHARES : []) {
    const own = taken.filter(({ context }) => includes(client, context));
    if (placesOf(own) >= most) throw fullShare({ ...limit, of }, most, RETRY_SECONDS);
  }
  if (placesOf(taken) >= MAX_IN_ALL)
    throw fullService({ message, reason, limit: MAX_IN_ALL, retrySeconds: RETRY_SECONDS });
}

function placesOf(taken: readonly TakenPlaces[]): number {
  return taken.reduce((sum, { places }) => sum + places, 0);
}
