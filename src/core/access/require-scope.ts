import { ServiceError } from '../errors.ts';
import type { RequestContext } from '../request/request-context.ts';
import type { Scope } from './scopes.ts';

/**
 * Throws `FORBIDDEN` unless the client has the scope, and `UNAUTHORIZED` if it has shown no credential.
 * @param scope null: every credential is enough.
 */
export function requireScope({ rights }: RequestContext, scope: Scope | null): void {
  if (!rights)
    throw new ServiceError('UNAUTHORIZED', 'The request has no credentials.', { reason: 'missing' });
  if (scope === null || rights.scopes.has(scope)) return;
  throw new ServiceError('FORBIDDEN', `This needs the scope ${scope}.`, {
    scope,
    suggestion: 'Use a credential with a role that has this scope.',
  });
}
