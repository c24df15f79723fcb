import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { jwtVerifier } from '../../../src/adapters/jwt/jwt-verifier.ts';
import { JwtIssuerConfig } from '../../../src/config/schema/jwt-config.ts';
import { ROLES } from '../../../src/core/access/scopes.ts';
import { RunningService } from '../service/running-service.ts';
import { closeAtOnce, listenLocally, originOf } from '../sockets/local-server.ts';
import { recordingLog } from '../telemetry/recording-log.ts';

export const RESOURCE = 'https://agent.example.com/mcp';

export interface LoginOptions {
  readonly yaml: string;
  /** How long access tokens are good. */
  readonly tokenSeconds?: number;
  /** Whether the client gets refresh tokens. */
  readonly refreshes?: boolean;
  /** Of `auth.console`, besides issuer and client. */
  readonly console?: object;
  /** Of the tokens, for everybody. */
  readonly roles?: readonly string[];
}

/** A service, and an identity provider through which people sign in to its console: any name, any password. */
export class LoginProvider implements AsyncDisposable {
  readonly service: RunningService;
  /** The grants of the token endpoint, such as `refresh_token`, in their order. */
  readonly grants: string[] = [];
  readonly #server: ReturnType<typeof createServer>;

  private constructor(service: RunningService, server: ReturnType<typeof createServer>) {
    this.service = service;
    this.#server = server;
  }

  static async start(options: LoginOptions): Promise<LoginProvider> {
    const server = createServer();
    await listenLocally(server);
    const issuer = originOf(server);
    const sso = { name: 'sso', issuer, audience: RESOURCE, clockSkewSeconds: 0 };
    const service = await RunningService.start({
      yaml: options.yaml,
      apiKeys: true,
      auth: {
        jwt: [sso],
        console: { issuer, clientId: 'console', parameters: { resource: RESOURCE }, ...options.console },
      },
      verifiers: [jwtVerifier([JwtIssuerConfig.parse(sso)], { roles: ROLES, log: recordingLog() })],
    });
    const made = new LoginProvider(service, server);
    const provider = await providerFor(issuer, `${service.url}/`, options);
    provider.on('grant.success', ({ oidc }) => made.grants.push(String(oidc.params?.grant_type)));
    server.on('request', provider.callback());
    return made;
  }

  /** Ends what the browser has open there, and answers nobody any more. */
  stopAnswering(): Promise<void> {
    return closeAtOnce(this.#server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    if (this.#server.listening) await closeAtOnce(this.#server);
  }
}

async function providerFor(issuer: string, page: string, options: LoginOptions) {
  const { tokenSeconds = 600, refreshes = true, roles = ['user'] } = options;
  const { Provider } = await import('oidc-provider');
  return new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
        redirect_uris: [page],
        post_logout_redirect_uris: [page],
      },
    ],
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    clientBasedCORS: (_, origin) => `${origin}/` === page,
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    extraTokenClaims: () => ({ roles }),
    features: {
      devInteractions: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          audience: RESOURCE,
          scope: '',
          accessTokenFormat: 'jwt',
          accessTokenTTL: tokenSeconds,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
}

/** Fills the provider's pages in. */
export async function logIn(page: Page, name: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}
