import type { SessionId } from '../../core/ids.ts';
import type { LimitHolder } from '../../core/limit-errors.ts';

/**
 * What the ids of all sessions of the same owner, and of the same tenant, begin with: `acme/key:ci/` and `acme/`.
 * Undefined for a session of nobody.
 */
export function ownerPrefixes(sessionId: SessionId): Readonly<Record<LimitHolder, string>> | undefined {
  const tenantEnd = sessionId.indexOf('/') + 1;
  const principalEnd = sessionId.indexOf('/', tenantEnd) + 1;
  if (tenantEnd === 0 || principalEnd === 0) return undefined;
  return { principal: sessionId.slice(0, principalEnd), tenant: sessionId.slice(0, tenantEnd) };
}

/** What tells the owner of a session from all others, as `ownPrefix` of the owner does. Empty for a session of nobody. */
export function ownerPrefixOf(sessionId: SessionId): string {
  return ownerPrefixes(sessionId)?.principal ?? '';
}
