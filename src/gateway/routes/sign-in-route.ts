import type { AuthConfig } from '../../config/schema/auth-config.ts';
import type { SignInResponse } from '../../wire/sign-in.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';

/** `GET /api/sign-in`: how people sign in to the console. Nobody who asks is signed in yet, so it has no secret. */
export function signInRoute(auth: Pick<AuthConfig, 'apiKeys' | 'console' | 'jwt'>): Route {
  const ways = waysOf(auth);
  return {
    method: 'GET',
    path: '/api/sign-in',
    access: 'open',
    handler: async () => jsonResponse<SignInResponse>({ ...ways, timestamp: now() }),
  };
}

function waysOf({
  apiKeys,
  console: signIn,
  jwt,
}: Parameters<typeof signInRoute>[0]): Omit<SignInResponse, 'timestamp'> {
  const accepted = jwt.find(({ issuer }) => issuer === signIn?.issuer);
  if (!signIn || !accepted) return { apiKeys };
  const { issuer, clientId, scope, parameters } = signIn;
  return { apiKeys, provider: { name: accepted.name, issuer, clientId, scope, parameters } };
}

/** The origins that the page of the console must reach to sign people in. */
export function providerOrigins({ console: signIn }: Pick<AuthConfig, 'console'>): readonly string[] {
  return signIn ? [...new Set([new URL(signIn.issuer).origin, ...signIn.origins])] : [];
}
