import { createContext, useContext } from 'react';
import type { Scope } from '../../core/access/scopes.ts';
import { getAs } from './api.ts';
import { ApiError } from './api-error.ts';

/** Who is signed in, as `GET /api/whoami` tells it. */
export interface Account {
  /** Such as `key:ci`. */
  readonly principal: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** What the key allows. */
  readonly scopes: readonly Scope[];
  /** When the key ends, in ISO 8601 UTC. Absent for one that does not. */
  readonly expiresAt?: string;
  /** When the service said so. Its clock may differ from the one of this machine. */
  readonly timestamp: string;
}

/** Null where the service authenticates nobody: everybody may do everything. */
export const AccountContext = createContext<Account | null>(null);

export function useAccount(): Account | null {
  return useContext(AccountContext);
}

/** Whether the key of the page allows it. */
export function useMay(scope: Scope): boolean {
  return mayDo(useAccount(), scope);
}

export function mayDo(account: Account | null, scope: Scope): boolean {
  return account === null || account.scopes.includes(scope);
}

/**
 * Whose key it is; null for a service that authenticates nobody. Rejects with an `ApiError`, for example when the key is
 * refused.
 */
export async function accountOf(key: string, signal?: AbortSignal): Promise<Account | null> {
  try {
    return await getAs<Account>(key, '/api/whoami', signal);
  } catch (error) {
    // Such a service has nothing at this path.
    if (error instanceof ApiError && error.code === 'INVALID_REQUEST') return null;
    throw error;
  }
}
