import { ServiceError } from '../../core/errors.ts';
import { DAY_MS } from '../../core/timeout-ms.ts';
import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import {
  CreateKeyRequest,
  type CreateKeyResponse,
  KeyPath,
  type KeysResponse,
  type RevokeKeyResponse,
} from '../../wire/api-keys.ts';
import { jsonResponse, now, type ServedRequest } from '../http/http-message.ts';
import { readFields } from '../http/request-body.ts';
import type { Parameters, Route } from '../http/router.ts';
import { parseFields } from '../requests/request-fields.ts';

/** No proxy and no browser may keep an answer that has a key in it. */
const UNCACHED = { 'Cache-Control': 'no-store' };

/** The API keys of the client's tenant. The bus must have handlers for them. */
export function keyRoutes(bus: Bus): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/keys',
      access: scopeOf('key.create'),
      handler: (request) => create(bus, request),
    },
    {
      method: 'GET',
      path: '/api/keys',
      access: scopeOf('key.list'),
      handler: (request) => list(bus, request),
    },
    {
      method: 'DELETE',
      path: '/api/keys/:keyId',
      access: scopeOf('key.revoke'),
      handler: (request, at) => revoke(bus, request, at),
    },
  ];
}

async function create(bus: Bus, request: ServedRequest): Promise<HttpResponse> {
  refuseIdempotencyKey(request);
  const { name, roles, tenant, ...expiry } = await readFields(CreateKeyRequest, request);
  const expiresAt = expiryOf(expiry);
  const { key, record } = await bus.send('key.create', { name, roles, tenant, expiresAt }, request.context);
  const body = { ...record, status: 'created', key, timestamp: now() } as const;
  return jsonResponse<CreateKeyResponse>(body, 200, UNCACHED);
}

function expiryOf({ expiresAt, expiresInDays }: ExpiryFields): number | undefined {
  if (expiresInDays !== undefined) return Date.now() + expiresInDays * DAY_MS;
  return expiresAt === undefined ? undefined : Date.parse(expiresAt);
}

interface ExpiryFields {
  readonly expiresAt?: string | undefined;
  readonly expiresInDays?: number | undefined;
}

/** The answer would have to be stored for a second request, and with it the key. */
function refuseIdempotencyKey({ headers }: HttpRequest): void {
  if (!headers.has('idempotency-key')) return;
  throw new ServiceError('INVALID_REQUEST', 'An API key cannot be created with an Idempotency-Key.', {
    field: 'Idempotency-Key',
    issue: 'the answer is a secret, which is not stored for a second request',
    suggestion: 'Leave the header out. If an answer is lost, revoke that key and create another.',
  });
}

async function list(bus: Bus, { context }: ServedRequest): Promise<HttpResponse> {
  const keys = await bus.send('key.list', {}, context);
  return jsonResponse<KeysResponse>({ keys, timestamp: now() });
}

async function revoke(bus: Bus, { context }: ServedRequest, at: Parameters): Promise<HttpResponse> {
  const { keyId } = parseFields(KeyPath, at);
  const record = await bus.send('key.revoke', { keyId }, context);
  return jsonResponse<RevokeKeyResponse>({ ...record, status: 'revoked', timestamp: now() });
}
