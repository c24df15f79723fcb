/** What a server asks for with 401 or 403. */
export interface Challenge {
  readonly status: 401 | 403;
  readonly scheme: 'Bearer' | 'DPoP' | null;
  readonly error: string | undefined;
  readonly scopes: readonly string[];
  /** The address of the protected resource's metadata (RFC 9728). */
  readonly resourceMetadata: URL | undefined;
}

/** @returns null if the answer asks for no authorization. */
export function challengeOf({ status, headers }: Response): Challenge | null {
  if (status !== 401 && status !== 403) return null;
  const header = headers.get('www-authenticate') ?? '';
  const parameters = parametersOf(header);
  const error = parameters.get('error');
  if (status === 403 && error !== 'insufficient_scope') return null;
  const url = parameters.get('resource_metadata') ?? '';
  return {
    status,
    scheme: /(?:^|,)\s*dpop\b/i.test(header) ? 'DPoP' : /(?:^|,)\s*bearer\b/i.test(header) ? 'Bearer' : null,
    error,
    scopes: scopesOf(parameters.get('scope')),
    resourceMetadata: URL.canParse(url) ? new URL(url) : undefined,
  };
}

function scopesOf(text: string | undefined): string[] {
  return text === undefined ? [] : [...new Set(text.split(' ').filter((scope) => scope !== ''))];
}

/** The parameters of all challenges of the header; the first one of a name counts. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, token] of header.matchAll(
    /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g,
  )) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? token ?? '');
  }
  return found;
}
