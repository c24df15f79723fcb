import { ServiceError } from '../errors.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { NeededScopes } from './scopes.ts';

/**
 * Throws `FORBIDDEN` unless the client has what is needed, and `UNAUTHORIZED` if it has shown no credential. The error names
 * the first scope that is missing, and all of them if there are several.
 */
export function requireScope({ rights }: RequestContext, needed: NeededScopes): void {
  if (!rights)
    throw new ServiceError('UNAUTHORIZED', 'The request has no credentials.', { reason: 'missing' });
  if (needed === null) return;
  const scopes = typeof needed === 'string' ? [needed] : needed;
  const missing = scopes.filter((one) => !rights.scopes.has(one));
  const [scope] = missing;
  if (scope === undefined) return;
  throw new ServiceError('FORBIDDEN', `This needs the scope ${scope}.`, {
    scope,
    ...(missing.length > 1 && { scopes: missing }),
    suggestion: 'Use a credential with a role that has this scope.',
  });
}
