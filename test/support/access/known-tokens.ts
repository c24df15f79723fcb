import type { Identity } from '../../../src/core/access/identity.ts';
import { type Scope, scopesOf } from '../../../src/core/access/scopes.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { TokenVerifier } from '../../../src/ports/token-verifier.ts';

/** Who has the token `test-NAME`: a principal `test:NAME`. */
export function identity(
  name: string,
  { tenant = 'acme', roles = ['user'], scopes, expiresAt }: Partial<Identity> = {},
): Identity {
  return {
    principal: `test:${name}`,
    tenant,
    roles,
    scopes: scopes ?? scopesOf(roles),
    credential: `credential-of-${name}`,
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Exactly this one scope, or all but this one. */
export const only = (scope: Scope): ReadonlySet<Scope> => new Set([scope]);

/** Accepts `test-NAME` for each of these identities, by their names. */
export class KnownTokens implements TokenVerifier {
  readonly principals = ['test:'];
  readonly identities = new Map<string, Identity>();

  constructor(identities: Readonly<Record<string, Identity>>) {
    for (const [token, known] of Object.entries(identities)) this.identities.set(`test-${token}`, known);
  }

  recognizes(token: string): boolean {
    return token.startsWith('test-');
  }

  subjectOf(): null {
    return null;
  }

  async verify(token: string): Promise<Identity> {
    const known = this.identities.get(token);
    if (known) return known;
    throw new ServiceError('UNAUTHORIZED', 'Nobody has this token.', { reason: 'unknown' });
  }
}

/** The header of a request of whoever has the token. */
export function bearer(name: string): Record<string, string> {
  return { Authorization: `Bearer test-${name}` };
}
