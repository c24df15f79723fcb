import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AuthorizationError } from './authorization-error.ts';
import type { Fetch } from './server-metadata.ts';

export interface PublicFetchOptions {
  /** Of the tool server. */
  readonly baseUrl: string;
  /** Addresses of the configuration, which an operator has chosen. */
  readonly chosen: readonly (string | undefined)[];
  readonly fetch: Fetch;
  /** Another one in tests. */
  readonly lookUp?: (hostname: string) => Promise<readonly LookupAddress[]>;
}

const MAX_REDIRECTS = 5;
const REDIRECTED: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * `fetch` for the addresses that a tool server names: its metadata, its authorization server and the endpoints of that. If
 * the tool server is one of the internet, they must be so, too: otherwise whoever runs it could make the service send into
 * its own network. A server in a private network may have its authorization server there.
 */
export function publicFetch({
  baseUrl,
  chosen,
  fetch,
  lookUp = (hostname) => lookup(hostname, { all: true }),
}: PublicFetchOptions): Fetch {
  const trusted = new Set([baseUrl, ...chosen].flatMap((url) => (url === undefined ? [] : [originOf(url)])));
  // Who has the name of the server chooses its addresses, and could add a private one to be trusted. That a name has other
  // addresses a moment later, when it is connected to, is not noticed here.
  const isGuarded = once(async () => !(await isPrivate(new URL(baseUrl), lookUp)));
  const require = async (url: URL): Promise<void> => {
    if (trusted.has(url.origin) || !(await isAnyPrivate(url, lookUp))) return;
    throw new AuthorizationError(
      `the tool server names ${url.origin} for its authorization, which is not an address of the public internet; nothing was sent there. If it is right, name it in oauth.issuer`,
    );
  };
  return async (input, init) => {
    if (!(await isGuarded())) return fetch(input, init);
    let url = new URL(input);
    for (let redirects = 0; ; redirects += 1) {
      await require(url);
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const next = response.headers.get('location');
      const isRedirect = REDIRECTED.has(response.status) && next !== null;
      if (!isRedirect || !isToFollow(init) || redirects === MAX_REDIRECTS) return response;
      await response.body?.cancel();
      url = new URL(next, url);
    }
  };
}

/** Not what sends something, nor where the caller looks at redirects itself. */
function isToFollow({ method = 'GET', redirect = 'follow' }: RequestInit = {}): boolean {
  return method === 'GET' && redirect === 'follow';
}

type LookUp = NonNullable<PublicFetchOptions['lookUp']>;

/** Whether no address of it is in the internet. */
async function isPrivate(url: URL, lookUp: LookUp): Promise<boolean> {
  const kinds = await areAddressesPublic(url, lookUp);
  return kinds.length > 0 && !kinds.includes(true);
}

async function isAnyPrivate(url: URL, lookUp: LookUp): Promise<boolean> {
  return (await areAddressesPublic(url, lookUp)).includes(false);
}

/** Of each address. None if the name cannot be resolved: it reaches nobody, and the request says why. */
async function areAddressesPublic(url: URL, lookUp: LookUp): Promise<boolean[]> {
  const { hostOf, isPublicAddress } = await import('../../../network/public-address.ts');
  const host = hostOf(url);
  if (isIP(host) !== 0) return [isPublicAddress(host)];
  const addresses = await lookUp(host).catch(() => []);
  return addresses.map(({ address }) => isPublicAddress(address));
}

function originOf(url: string): string {
  return new URL(url).origin;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
