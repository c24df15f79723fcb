import { afterEach, expect, it, vi } from 'vitest';
import { ServerAuthorization } from '../../../src/adapters/mcp/oauth/server-authorization.ts';
import type { CredentialStore } from '../../../src/ports/server-authorization.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const BASE_URL = 'http://127.0.0.1:9/mcp';
const METADATA_URL = 'http://127.0.0.1:9/meta/resource.json';
const ISSUER = 'http://127.0.0.1:8';
const HOUR_SECONDS = 3_600;

const documents: Readonly<Record<string, object>> = {
  [METADATA_URL]: { resource: BASE_URL, authorization_servers: [ISSUER] },
  [`${ISSUER}/.well-known/oauth-authorization-server`]: {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    response_types_supported: ['code'],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  },
};

/** A tool server whose metadata is only where its challenge says, and another server that gives its tokens. */
function start() {
  let given = 0;
  vi.stubGlobal('fetch', async (input: string | URL) => {
    const url = String(input);
    if (url !== `${ISSUER}/token`)
      return Response.json(documents[url] ?? {}, { status: documents[url] ? 200 : 404 });
    given += 1;
    return Response.json({ access_token: `T${given}`, token_type: 'Bearer', expires_in: HOUR_SECONDS });
  });
  let kept: string | null = null;
  const credentials: CredentialStore = {
    isShared: false,
    read: async () => kept,
    keep: async (_server, text) => {
      kept = text;
    },
    forget: async () => undefined,
    keepOnly: async () => undefined,
    claim: async () => true,
    release: async () => undefined,
  };
  let time = Date.parse('2026-01-01T00:00:00Z');
  const oauth = { grant: 'client-credentials', clientId: 'service', clientSecret: 'hush' } as const;
  const authorization = () =>
    new ServerAuthorization(
      's',
      { type: 'http', baseUrl: BASE_URL, oauth },
      { credentials, log: recordingLog(), redirectUrl: async () => null, now: () => time },
    );
  return {
    authorization,
    wait: (ms: number) => {
      time += ms;
    },
  };
}

function refusal(): Response {
  const headers = { 'WWW-Authenticate': `Bearer resource_metadata="${METADATA_URL}"` };
  return new Response(null, { status: 401, headers });
}

afterEach(() => vi.unstubAllGlobals());

it('a token is renewed before it expires where only the challenge says where the metadata is', async () => {
  const { authorization, wait } = start();
  const first = authorization();
  expect(await first.satisfy(refusal(), { token: null, hasNewNonce: false })).toBe(true);
  expect((await first.token())?.accessToken).toBe('T1');
  wait((HOUR_SECONDS - 10) * 1_000);
  expect((await first.token())?.accessToken).toBe('T2');

  const restarted = authorization();
  expect(await restarted.satisfy(refusal(), { token: null, hasNewNonce: false })).toBe(true);
  expect((await restarted.token())?.accessToken).toBe('T2');
  wait((HOUR_SECONDS - 10) * 1_000);
  expect((await restarted.token())?.accessToken).toBe('T3');
});
