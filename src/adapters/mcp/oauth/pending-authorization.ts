import { createHash, timingSafeEqual } from 'node:crypto';
import type { ProofKey, RegisteredClient } from './credentials.ts';
import type { AuthorizationSite } from './discovery.ts';

/** A person was sent to an authorization server, and has not come back. In memory only, and used once. */
export interface PendingAuthorization {
  /** The address that the person opens. */
  readonly url: string;
  /** Links the answer to this request; nobody can guess it. */
  readonly state: string;
  readonly site: AuthorizationSite;
  readonly client: RegisteredClient;
  readonly scopes: readonly string[];
  readonly redirectUrl: string;
  /** Of PKCE. */
  readonly verifier: string;
  readonly proofKey: ProofKey | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export function isSameState(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
