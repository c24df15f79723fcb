import type { ServerAuthorization } from './server-authorization.ts';

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Most times that one request is sent again: for a nonce, a token, a scope, and each of them once more. */
const MAX_REPEATS = 5;

/** `fetch` that sends the token of the server, gets one when the server answers 401, and a larger one after 403. */
export function authorizedFetch(access: ServerAuthorization, fetch: Fetch): Fetch {
  return async (input, init) => {
    for (let repeats = 0; ; repeats += 1) {
      const token = await access.token();
      const authorization = token && (await access.headers(token, init?.method ?? 'GET', String(input)));
      const response = await fetch(input, authorization ? withHeaders(init, authorization) : init);
      const hasNewNonce = access.noteNonce(response);
      if (response.ok || repeats === MAX_REPEATS) return response;
      if (!(await access.satisfy(response, { token, hasNewNonce }))) return response;
      await response.body?.cancel();
    }
  };
}

function withHeaders(init: RequestInit | undefined, added: Record<string, string>): RequestInit {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return { ...init, headers };
}
