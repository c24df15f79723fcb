import type { AuthorizationResponse } from '../../../../src/ports/server-authorization.ts';

/** The address to which an authorization server sends a browser back whose user agrees to everything. */
export async function redirectOf(authorizationUrl: string): Promise<URL> {
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  await response.body?.cancel();
  return new URL(response.headers.get('location') ?? '');
}

/** What the address says. */
export function responseIn({ searchParams }: URL): AuthorizationResponse {
  const parameter = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  return {
    state: parameter('state') ?? '',
    code: parameter('code'),
    iss: parameter('iss'),
    error: parameter('error'),
  };
}
