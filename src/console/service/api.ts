import { renewedKey } from '../identity/renewal.ts';
import { agentBase } from './agent-base.ts';
import { ApiError, refused, unreachable } from './api-error.ts';
import { headersOf, keptKey } from './kept-key.ts';
import { tellSignedOut } from './signed-out.ts';

/** Gets JSON. Answers are not checked, because the page comes from the same service. Rejects with an `ApiError`. */
export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request(path, { headers: { Accept: 'application/json' }, signal: signal ?? null });
}

export function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

export function patch<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return request(path, { method: 'PATCH', headers, body: JSON.stringify(body) });
}

export function remove<T>(path: string): Promise<T> {
  return request(path, { method: 'DELETE' });
}

/** Gets JSON with a key that nobody is signed in with yet, or without one. */
export function getAs<T>(key: string | null, path: string, signal?: AbortSignal): Promise<T> {
  return send(path, { headers: { Accept: 'application/json' }, signal: signal ?? null }, key);
}

/** As whoever is signed in. If the service asks who that is, the page shows how to sign in. */
async function request<T>(path: string, init: RequestInit): Promise<T> {
  const key = keptKey();
  try {
    return await send<T>(path, init, key);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const renewed = await afterRefusal(error, key);
    if (renewed === null) throw error;
    return await send<T>(path, init, renewed);
  }
}

/**
 * Call it with each refusal of a request of the page.
 * @param key of the request.
 * @returns a key to try again with. If there is none and one is needed, the page shows how to sign in.
 */
export async function afterRefusal(error: ApiError, key: string | null): Promise<string | null> {
  if (error.code !== 'UNAUTHORIZED') return null;
  // A provider that does not answer cannot renew the sign-in either.
  const renewed = await renewedKey(key).catch(() => null);
  if (renewed === null) tellSignedOut(error, key);
  return renewed;
}

async function send<T>(path: string, init: RequestInit, key: string | null): Promise<T> {
  const headers = { ...init.headers, ...headersOf(key) };
  const fail = (cause: unknown): never => {
    throw init.signal?.aborted ? cause : unreachable(cause);
  };
  const response = await fetch(agentBase + path, { ...init, headers }).catch(fail);
  if (!response.ok) throw await refused(response);
  // The connection may break within the answer, or a proxy may answer with a page of its own.
  return await response.json().catch(fail);
}
