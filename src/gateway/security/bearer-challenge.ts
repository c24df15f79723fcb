import type { Scope } from '../../core/access/scopes.ts';

export interface Challenge {
  /** Where the metadata of the MCP endpoint are. Other routes have none. */
  readonly metadataUrl?: string;
  /** All scopes that the request needs. Left out of the header if there is none. */
  readonly scopes: readonly Scope[];
}

/**
 * `WWW-Authenticate` of a 401 (RFC 6750, section 3).
 *
 * @param refusal why the token was refused, such as the message of the error. Left out if the request had no token.
 */
export function unauthorizedChallenge(challenge: Challenge, refusal?: string): string {
  if (refusal === undefined) return bearer(parametersOf(challenge));
  return bearer({ error: 'invalid_token', error_description: refusal, ...parametersOf(challenge) });
}

/** `WWW-Authenticate` of a 403. A client then asks its issuer for a token with these scopes. */
export function insufficientScopeChallenge(challenge: Challenge): string {
  return bearer({ error: 'insufficient_scope', ...parametersOf(challenge) });
}

function parametersOf({ metadataUrl, scopes }: Challenge): Record<string, string> {
  return {
    ...(metadataUrl !== undefined && { resource_metadata: metadataUrl }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}

/** A challenge needs no parameter. */
function bearer(parameters: Readonly<Record<string, string>>): string {
  const texts = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`);
  return ['Bearer', texts.join(', ')].join(' ').trimEnd();
}

/**
 * RFC 6750 allows neither quotes nor backslashes in these values, not even escaped, and headers no other characters than
 * those of ASCII that can be seen.
 */
function quotable(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^ !#-[\]-~]/g, '?');
}
