import type { ServerConfig } from '../../config/schema/agent-config.ts';
import type { AuthConfig } from '../../config/schema/auth-config.ts';
import { Scope } from '../../core/access/scopes.ts';
import { addressMatcher, unmapIpv4 } from '../../gateway/security/client-address.ts';
import { ProtectedMcp } from '../../gateway/security/protected-mcp.ts';

export function protectMcp(
  { jwt, resource: url }: AuthConfig,
  trustProxy: ServerConfig['trustProxy'],
): ProtectedMcp {
  return new ProtectedMcp({
    url,
    issuers: jwt.map(({ issuer }) => issuer),
    // An issuer that does not know these scopes refuses a client that asks for them.
    scopes: jwt.some(({ claims }) => claims.scope !== undefined) ? Scope.options : [],
    isTrustedProxy: trustedProxies(trustProxy),
  });
}

function trustedProxies(trustProxy: ServerConfig['trustProxy']): (peerAddress: string) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  const isTrusted = addressMatcher(trustProxy);
  return (peerAddress) => isTrusted(unmapIpv4(peerAddress));
}
