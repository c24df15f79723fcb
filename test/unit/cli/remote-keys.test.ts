import { createServer, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { remoteKeys } from '../../../src/cli/keys/remote-keys.ts';
import type { CreatedApiKey } from '../../../src/core/access/api-key-record.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

const record = {
  keyId: 'c1Q3mJr7',
  name: 'ci',
  roles: ['user'],
  tenant: 'acme',
  createdAt: '2026-11-21T05:51:26.421Z',
};
const timestamp = '2026-11-21T05:51:26.421Z';

/** What a service answers to each request. */
const answers: Readonly<Record<string, object>> = {
  'POST /base/api/keys': { ...record, status: 'created', key: 'as_c1Q3mJr7_new', timestamp },
  'GET /base/api/keys': { keys: [{ ...record, status: 'active' }], timestamp },
  'DELETE /base/api/keys/c1Q3mJr7': { ...record, status: 'revoked', revokedAt: timestamp, timestamp },
};

const refusal = {
  success: false,
  error: {
    code: 'UNAUTHORIZED',
    message: 'The API key is not accepted.',
    details: { reason: 'revoked' },
  },
  timestamp,
};

const unknownRole = {
  ...refusal,
  error: {
    code: 'INVALID_REQUEST',
    message: 'The field roles is not valid: there is no role "usr".',
    details: { field: 'roles', issue: 'there is no role "usr"', suggestion: 'Use one of reader, user.' },
  },
};

/** A service that lets in who has the token `as_right`. */
async function serve(refused: object = refusal) {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    if (text !== '') bodies.push(JSON.parse(text));
    const isRight = request.headers.authorization === 'Bearer as_right';
    response.writeHead(isRight ? 200 : 401, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(isRight ? answers[`${request.method} ${request.url}`] : refused));
  });
  await listenLocally(server);
  const url = `${originOf(server)}/base`;
  return { url, bodies, [Symbol.asyncDispose]: () => closeAtOnce(server) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

describe('the API keys of a running service', () => {
  it('are managed with the key of an administrator', async () => {
    await using service = await serve();
    const keys = remoteKeys({ url: service.url, token: 'as_right' });
    const expiresAt = Date.parse('2027-02-19T05:51:26.421Z');
    const shown: CreatedApiKey[] = [];
    const show = async (created: CreatedApiKey) => void shown.push(created);
    await keys.create({ name: 'ci', roles: ['user'], tenant: 'acme', expiresAt }, show);
    expect(shown).toEqual([{ key: 'as_c1Q3mJr7_new', record: { ...record, status: 'active' } }]);
    await keys.create({ name: 'ci', roles: ['user'] }, show);
    expect(service.bodies).toEqual([
      { name: 'ci', roles: ['user'], tenant: 'acme', expiresAt: '2027-02-19T05:51:26.421Z' },
      { name: 'ci', roles: ['user'] },
    ]);
    expect(await keys.list()).toEqual([{ ...record, status: 'active' }]);
    expect(await keys.revoke('c1Q3mJr7')).toEqual({ ...record, status: 'revoked', revokedAt: timestamp });
  });

  it.each(['as_wrong', undefined])('are refused to %s, with the reason of the service', async (token) => {
    await using service = await serve();
    await expect(remoteKeys({ url: service.url, token }).list()).rejects.toThrow(
      /^The API key is not accepted\. \(revoked\) \(give a key with --key or AGENT_SERVICE_KEY\)$/,
    );
  });

  it('are refused without saying anything twice', async () => {
    await using service = await serve(unknownRole);
    const show = () => Promise.reject(new Error('there is no key'));
    await expect(remoteKeys(service).create({ name: 'x', roles: ['usr'] }, show)).rejects.toThrow(
      /^The field roles is not valid: there is no role "usr"\. \(Use one of reader, user\.\)$/,
    );
  });

  it('need a token that a header can have; the error does not show it', async () => {
    const keys = remoteKeys({ url: 'http://127.0.0.1:9', token: 'as_sekrit\nx' });
    await expect(keys.list()).rejects.toThrow(/^--key or AGENT_SERVICE_KEY: found text that(?!.*sekrit)/);
  });
});
