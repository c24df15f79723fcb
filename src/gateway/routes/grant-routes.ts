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
import { readJsonObject } from '../http/request-body.ts';
import type { Route } from '../http/router.ts';
import { parseFields } from '../requests/request-fields.ts';

/** With whom a session is shared. The bus must have handlers for it. */
export function grantRoutes(bus: Bus): Route[] {
  const path = '/api/sessions/:sessionId/grants';
  return [
    {
      method: 'POST',
      path,
      access: scopeOf('grant.create'),
      handler: async (request, at) => {
        const { sessionId } = parseFields(GrantsPath, at);
        const wanted = parseFields(CreateGrantRequest, await readJsonObject(request));
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
