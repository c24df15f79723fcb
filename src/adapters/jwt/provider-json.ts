import type { Clock } from '../../timing/clock.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ProviderEndpoint {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** For the whole answer. Requests of clients wait meanwhile. */
export const FETCH_TIMEOUT_MS = 5_000;
/** Key sets and metadata have a few kilobytes. */
export const MAX_ANSWER_BYTES = 512 * 1024;
const MAX_REDIRECTS = 3;

/** The provider answered, but with another status than 200. */
export class ProviderStatusError extends Error {
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} answered with status ${status}`);
    this.name = 'ProviderStatusError';
    this.status = status;
  }
}

/** Gets a JSON document of an identity provider. Follows redirects within the same origin only. */
export async function fetchJson(url: string, { fetch, clock }: ProviderEndpoint): Promise<unknown> {
  const abort = new AbortController();
  const timedOut = new Error(`${url} did not answer within ${FETCH_TIMEOUT_MS} ms`);
  const timer = clock.setTimeout(() => abort.abort(timedOut), FETCH_TIMEOUT_MS);
  try {
    const response = await follow(url, { fetch, signal: abort.signal });
    return JSON.parse(await boundedText(response));
  } finally {
    clock.clearTimeout(timer);
  }
}

interface Following {
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
}

async function follow(url: string, { fetch, signal }: Following): Promise<Response> {
  let next = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const headers = { accept: 'application/json, application/jwk-set+json' };
    const response = await fetch(next, { redirect: 'manual', signal, headers });
    if (response.status === 200) return response;
    await response.body?.cancel();
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null)
      throw new ProviderStatusError(next, response.status);
    const target = new URL(location, next);
    if (target.origin !== new URL(url).origin)
      throw new Error(`${next} redirects to ${target.origin}; redirects to other origins are not followed`);
    next = target.href;
  }
  throw new Error(`${url} redirects more than ${MAX_REDIRECTS} times`);
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Error(`${response.url} answered with more than ${MAX_ANSWER_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
