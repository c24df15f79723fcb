import { describe, expect } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { consoleRoutes } from '../../../src/gateway/console/console-routes.ts';
import { indexRoute } from '../../../src/gateway/console/index-route.ts';
import { SignInResponse } from '../../../src/wire/sign-in.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const issuer = 'https://sso.example.com/realms/a';
const auth = {
  jwt: [
    { name: 'other', issuer: 'https://other.example.com', audience: 'agent' },
    { name: 'sso', issuer, audience: 'agent' },
  ],
  console: {
    issuer,
    clientId: 'agent-console',
    parameters: { resource: 'https://agent.example.com/mcp' },
    origins: ['https://token.example.com'],
  },
};

async function waysOf(service: RunningService): Promise<Omit<SignInResponse, 'timestamp'>> {
  const answer = await service.fetch('/api/sign-in', { headers: { Authorization: '' } });
  expect(answer.status).toBe(200);
  const { timestamp, ...ways } = SignInResponse.strict().parse(await answer.json());
  expect(Date.parse(timestamp)).toBeGreaterThan(0);
  return ways;
}

describe('GET /api/sign-in', () => {
  verifies('auth.sign-in', async () => {
    await using keys = await RunningService.start({ apiKeys: true });
    expect(await waysOf(keys)).toEqual({ apiKeys: true });
    expect(keys.access?.providerOrigins).toEqual([]);

    await using both = await RunningService.start({ apiKeys: true, auth });
    expect(await waysOf(both)).toEqual({
      apiKeys: true,
      provider: {
        name: 'sso',
        issuer,
        clientId: 'agent-console',
        scope: 'openid',
        parameters: { resource: 'https://agent.example.com/mcp' },
      },
    });
    expect(await policyWith(both.access?.providerOrigins)).toContain(
      "connect-src 'self' https://sso.example.com https://token.example.com;",
    );
    expect(await policyWith(keys.access?.providerOrigins)).toContain("connect-src 'self';");

    await using nobody = await RunningService.start();
    expect((await nobody.fetch('/api/sign-in')).status).toBe(400);
  });
});

/** The policy of the page, which the tests of this folder do not build. */
async function policyWith(providerOrigins: readonly string[] | undefined): Promise<string | undefined> {
  const page = { path: '/index.html', read: async () => Buffer.from('page') };
  const [route] = consoleRoutes({
    files: [page],
    index: indexRoute('0.0.0', () => ({ name: 'agent-service' })),
    providerOrigins,
  });
  const request = {
    method: 'GET',
    path: '/',
    query: '',
    peerAddress: '127.0.0.1',
    context: ANYONE,
    headers: new Map([['accept', 'text/html']]),
    body: async () => new Uint8Array(),
  };
  const answer = await route?.handler(request, {});
  return answer?.headers?.['Content-Security-Policy'];
}
