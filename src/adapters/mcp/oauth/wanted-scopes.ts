import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import type { Challenge } from './challenge.ts';
import type { Token } from './credentials.ts';
import type { AuthorizationSite } from './discovery.ts';

const OFFLINE_ACCESS = 'offline_access';

interface ScopeSources {
  readonly oauth: OAuthConfig;
  readonly challenge: Challenge | null;
  readonly site: AuthorizationSite;
  /** The one that has too few scopes, or that is to be replaced. */
  readonly token: Token | undefined;
}

/** What the server asks for now, the configuration and what was asked for earlier; else what the server's metadata lists. */
export function wantedScopes({ oauth, challenge, site, token }: ScopeSources): string[] {
  const earlier = challenge?.status === 401 ? [] : (token?.scopes ?? []);
  const asked = [...earlier, ...(challenge?.scopes ?? []), ...(oauth.scopes ?? [])];
  const scopes = asked.length > 0 ? asked : site.scopes;
  const offersRefresh = site.metadata?.scopes_supported?.includes(OFFLINE_ACCESS) === true;
  // Alone, it would replace the scopes that the server gives by default.
  const wantsRefresh = offersRefresh && scopes.length > 0 && !isUnattended(oauth);
  return [...new Set([...scopes, ...(wantsRefresh ? [OFFLINE_ACCESS] : [])])];
}

/** Whether the grant needs no person. */
export function isUnattended({ grant }: OAuthConfig): boolean {
  return grant !== undefined && grant !== 'authorization-code';
}
