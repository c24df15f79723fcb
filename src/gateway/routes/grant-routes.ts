import type { NewGrant } from '../../core/access/grant.ts';
import { ServiceError } from '../../core/errors.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import {
  CreateGrantRequest,
  GrantPath,
  type GrantResponse,
  GrantsPath,
  type GrantsResponse,
  type RevokeGrantResponse,
} from '../../wire/grants.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import { readFields } from '../http/request-body.ts';
import type { Route } from '../http/router.ts';
import { parseFields } from '../requests/request-fields.ts';

/** Whom sessions can be shared with. */
export interface Grantees {
  /** Null if identity providers name roles, too, so that nobody knows all of them. */
  readonly roles: readonly string[] | null;
  /** What the names of principals begin with, such as `key:`. */
  readonly principals: readonly string[];
}

/** With whom a session is shared. The bus must have handlers for it. */
export function grantRoutes(bus: Bus, grantees: Grantees): Route[] {
  const path = '/api/sessions/:sessionId/grants';
  return [
    {
      method: 'POST',
      path,
      access: scopeOf('grant.create'),
      handler: async (request, at) => {
        const { sessionId } = parseFields(GrantsPath, at);
        const wanted = await readFields(CreateGrantRequest, request);
        requireGrantee(wanted, grantees);
        const grant = await bus.send('grant.create', { sessionId, ...wanted }, request.context);
        return jsonResponse<GrantResponse>({ grant, timestamp: now() });
      },
    },
    {
      method: 'GET',
      path,
      access: scopeOf('grant.list'),
      handler: async ({ context }, at) => {
        const grants = await bus.send('grant.list', parseFields(GrantsPath, at), context);
        return jsonResponse<GrantsResponse>({ grants, timestamp: now() });
      },
    },
    {
      method: 'DELETE',
      path: `${path}/:grantId`,
      access: scopeOf('grant.revoke'),
      handler: async ({ context }, at) => {
        const grant = await bus.send('grant.revoke', parseFields(GrantPath, at), context);
        return jsonResponse<RevokeGrantResponse>({ status: 'revoked', grant, timestamp: now() });
      },
    },
  ];
}

/** Throws `INVALID_REQUEST` if nobody can ever be meant. Whether a certain principal exists, nobody knows. */
function requireGrantee({ principal, role }: NewGrant, { roles, principals }: Grantees): void {
  if (role !== undefined && roles && !roles.includes(role))
    throw unknownGrantee('role', `there is no role ${role}`, `Use one of ${roles.join(', ')}.`);
  if (principal !== undefined && !principals.some((prefix) => principal.startsWith(prefix)))
    throw unknownGrantee(
      'principal',
      `no principal has a name such as ${principal}`,
      `The name of a principal begins with ${principals.join(' or ')}, as GET /api/whoami shows.`,
    );
}

function unknownGrantee(field: string, issue: string, suggestion: string): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The session cannot be shared: ${issue}.`, {
    field,
    issue,
    suggestion,
  });
}
