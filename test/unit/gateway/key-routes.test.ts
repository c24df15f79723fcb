import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { asServiceError } from '../../../src/core/errors.ts';
import { API_KEYS_STREAM } from '../../../src/core/log/streams.ts';
import { ANYONE, type RequestContext } from '../../../src/core/request/request-context.ts';
import type { ServedRequest } from '../../../src/gateway/http/http-message.ts';
import { Router } from '../../../src/gateway/http/router.ts';
import { keyRoutes } from '../../../src/gateway/routes/key-routes.ts';
import { LocalBus } from '../../../src/runtime/bus/local-bus.ts';
import { answerForKeys } from '../../../src/runtime/requests/key-requests.ts';
import { CreateKeyResponse, KeysResponse, RevokeKeyResponse } from '../../../src/wire/api-keys.ts';
import { keyBook } from '../../support/service/key-book.ts';

const ADMIN: RequestContext = { ...ANYONE, principal: 'key:root', tenant: 'acme' };
const STRANGER: RequestContext = { ...ADMIN, tenant: 'other' };
const CI = { name: 'ci', roles: ['user'] };
const DAY_MS = 24 * 60 * 60_000;

interface Sent {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path?: string;
  readonly body?: unknown;
  readonly context?: RequestContext;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The routes of the API keys over a real bus, for clients that somebody has identified. */
async function open() {
  const store = memoryEventStore();
  const book = await keyBook(store);
  const bus = new LocalBus(() => undefined);
  answerForKeys(bus, book);
  const router = new Router(keyRoutes(bus));
  const send = async ({ method, path = '/api/keys', body, context = ADMIN, headers = {} }: Sent) => {
    const request: ServedRequest = {
      method,
      path,
      context,
      query: '',
      peerAddress: '127.0.0.1',
      headers: new Map(Object.entries({ 'content-type': 'application/json', ...headers })),
      body: async () => new TextEncoder().encode(JSON.stringify(body)),
    };
    const { route, parameters } = router.find(request);
    const answer = await route.handler(request, parameters);
    return { ...answer, json: JSON.parse(String(answer.body)) };
  };
  /** What the error says to the client. */
  const refused = async (sent: Sent) => {
    const error = await send(sent).catch((thrown: unknown) => asServiceError(thrown));
    if (!('code' in error)) throw new Error('the request was not refused');
    return error.body;
  };
  const create = async (body: object = CI, context = ADMIN) =>
    CreateKeyResponse.parse((await send({ method: 'POST', body, context })).json);
  const list = async (context = ADMIN) =>
    KeysResponse.parse((await send({ method: 'GET', context })).json).keys;
  return { store, book, send, refused, create, list };
}

describe('POST /api/keys', () => {
  it('answers with a key of the own tenant, once and uncached', async () => {
    const { book, send, list } = await open();
    const { json, headers, status } = await send({ method: 'POST', body: CI });
    expect([status, headers['Cache-Control']]).toEqual([200, 'no-store']);
    const { key, ...created } = CreateKeyResponse.parse(json);
    expect(created).toMatchObject({ ...CI, tenant: 'acme', status: 'created' });
    expect(book.verify(key)).toMatchObject({ principal: 'key:ci', tenant: 'acme' });
    const [listed] = await list();
    expect(listed).toMatchObject({ keyId: created.keyId, status: 'active' });
    expect(JSON.stringify(listed)).not.toContain(key.slice(12));
  });

  it('says in the log which principal created it', async () => {
    const { store, create } = await open();
    await create();
    const [envelope] = await store.read(API_KEYS_STREAM, 0);
    expect(envelope?.meta?.actor).toEqual({ kind: 'client', principal: 'key:root', tenant: 'acme' });
  });

  it('takes an expiry as a time, in any zone, or as days', async () => {
    const { create } = await open();
    const at = await create({ ...CI, expiresAt: '2999-01-31T12:00:00+01:00' });
    expect(at.expiresAt).toBe('2999-01-31T11:00:00.000Z');
    const before = Date.now();
    const days = await create({ ...CI, expiresInDays: 90 });
    const ms = Date.parse(days.expiresAt ?? '') - 90 * DAY_MS;
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now());
    expect(await create({ ...CI, expiresAt: null, expiresInDays: null, tenant: null })).not.toHaveProperty(
      'expiresAt',
    );
  });

  it.each([
    [{ roles: ['user'] }, 'MISSING_FIELD', 'name'],
    [{ name: 'ci' }, 'MISSING_FIELD', 'roles'],
    [{ ...CI, name: 'a b' }, 'INVALID_REQUEST', 'name'],
    [{ ...CI, name: 'x'.repeat(65) }, 'INVALID_REQUEST', 'name'],
    [{ ...CI, roles: [] }, 'INVALID_REQUEST', 'roles'],
    [{ ...CI, roles: 'user' }, 'INVALID_REQUEST', 'roles'],
    [{ ...CI, roles: ['root'] }, 'INVALID_REQUEST', 'roles'],
    [{ ...CI, tenant: '../x' }, 'INVALID_REQUEST', 'tenant'],
    [{ ...CI, tenant: 'other' }, 'FORBIDDEN', 'tenant'],
    [{ ...CI, expiresAt: 'tomorrow' }, 'INVALID_REQUEST', 'expiresAt'],
    [{ ...CI, expiresAt: '2001-01-01T00:00:00Z' }, 'INVALID_REQUEST', 'expiresAt'],
    [{ ...CI, expiresInDays: 0 }, 'INVALID_REQUEST', 'expiresInDays'],
    [{ ...CI, expiresInDays: 1e9 }, 'INVALID_REQUEST', 'expiresInDays'],
    [{ ...CI, expiresInDays: 1, expiresAt: '2999-01-01T00:00:00Z' }, 'INVALID_REQUEST', 'expiresInDays'],
  ])('refuses %j with %s, which names the field %s', async (body, code, field) => {
    const { refused, list } = await open();
    expect(await refused({ method: 'POST', body })).toMatchObject({ code, details: { field } });
    expect(await list()).toEqual([]);
  });

  it('refuses an idempotency key, with which the answer would be stored', async () => {
    const { refused, list } = await open();
    const headers = { 'idempotency-key': '4f1c6b8e' };
    expect(await refused({ method: 'POST', body: CI, headers })).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'Idempotency-Key' },
    });
    expect(await list()).toEqual([]);
  });
});

describe('the keys of another tenant', () => {
  it('are neither listed nor found', async () => {
    const { book, refused, create, list } = await open();
    const { key, keyId } = await create();
    expect(await list(STRANGER)).toEqual([]);
    const sent = { method: 'DELETE', context: STRANGER } as const;
    const foreign = await refused({ ...sent, path: `/api/keys/${keyId}` });
    const none = await refused({ ...sent, path: '/api/keys/nobodys0' });
    expect(foreign.code).toBe('API_KEY_NOT_FOUND');
    expect(JSON.stringify(foreign).replaceAll(keyId, 'nobodys0')).toBe(JSON.stringify(none));
    expect(book.verify(key)).toMatchObject({ tenant: 'acme' });
  });
});

describe('DELETE /api/keys/{keyId}', () => {
  it('revokes a key at once', async () => {
    const { book, send, create, list } = await open();
    const { key, keyId } = await create();
    const { json } = await send({ method: 'DELETE', path: `/api/keys/${keyId}` });
    expect(RevokeKeyResponse.parse(json)).toMatchObject({ keyId, status: 'revoked', name: 'ci' });
    expect(() => book.verify(key)).toThrow('The API key is not accepted.');
    expect(await list()).toMatchObject([{ keyId, status: 'revoked' }]);
  });

  it('does not repeat a whole key that somebody puts in the path', async () => {
    const { refused, create } = await open();
    const { key } = await create();
    const error = await refused({ method: 'DELETE', path: `/api/keys/${key}` });
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field: 'keyId' } });
    expect(JSON.stringify(error)).not.toContain(key.slice(12));
  });
});
