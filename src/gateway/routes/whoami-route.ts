import { Scope } from '../../core/access/scopes.ts';
import { ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { WhoamiResponse } from '../../wire/whoami.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';

/** `GET /api/whoami`: who the client is. Where clients are authenticated. */
export const whoamiRoute: Route = {
  method: 'GET',
  path: '/api/whoami',
  access: null,
  handler: async ({ context }) => answer(context),
};

function answer({ principal, tenant, rights }: RequestContext): HttpResponse {
  if (!rights)
    throw new ServiceError('UNAUTHORIZED', 'The request has no credentials.', { reason: 'missing' });
  const { roles, scopes, expiresAt } = rights;
  return jsonResponse<WhoamiResponse>({
    principal,
    tenant,
    roles,
    scopes: Scope.options.filter((scope) => scopes.has(scope)),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    timestamp: now(),
  });
}
