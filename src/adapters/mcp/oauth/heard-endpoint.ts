import { z } from 'zod';
import type { Fetch } from './server-metadata.ts';

/** Codes by which a token endpoint says that it cannot answer now, or not so. What it was sent may still be good. */
const NO_REFUSALS: readonly string[] = [
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
  'use_dpop_nonce',
];
const TOO_MANY_REQUESTS = 429;

const ErrorBody = z.object({ error: z.string().min(1) });

export interface HeardEndpoint {
  readonly fetch: Fetch;
  /** The code by which the last request was refused. Undefined if it was not, or if the endpoint failed. */
  readonly refusal: () => string | undefined;
}

/**
 * Hears the refusals of a token endpoint, of which the SDK knows only the codes of the standards, and only with the
 * status of an error. GitHub has codes of its own, and sends them with status 200.
 */
export function heardEndpoint(fetch: Fetch): HeardEndpoint {
  let refusal: string | undefined;
  return {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      refusal = await refusalIn(response);
      return response;
    },
    refusal: () => refusal,
  };
}

async function refusalIn(response: Response): Promise<string | undefined> {
  if (response.status >= 500 || response.status === TOO_MANY_REQUESTS) return undefined;
  // The SDK reads the body, too. If it is no JSON, or breaks off, the SDK says so.
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const { data } = ErrorBody.safeParse(body);
  return data === undefined || NO_REFUSALS.includes(data.error) ? undefined : data.error;
}
