import { getAs } from '../service/api.ts';
import { ApiError } from '../service/api-error.ts';

/** The identity provider that people sign in with, as `GET /api/sign-in` tells it. */
export interface Provider {
  /** What its principals begin with. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** Further parameters of requests to the provider. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** How people can sign in. */
export interface SignInWays {
  readonly apiKeys: boolean;
  readonly provider?: Provider | undefined;
}

/** Rejects with an `ApiError`. */
export async function signInWays(signal?: AbortSignal): Promise<SignInWays> {
  try {
    return await getAs<SignInWays>(null, '/api/sign-in', signal);
  } catch (error) {
    // An older service has nothing at this path, and has API keys.
    if (error instanceof ApiError && error.code === 'INVALID_REQUEST') return { apiKeys: true };
    throw error;
  }
}
