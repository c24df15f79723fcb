import { getAs } from '../service/api.ts';
import { ApiError } from '../service/api-error.ts';
import type { SignInWays } from './provider.ts';

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
