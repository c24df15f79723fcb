import { z } from 'zod';
import type { Scope } from './scopes.ts';

/** Names a group of principals who share an installation and see nothing of each other's groups. */
export const TenantId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 characters of A-Z a-z 0-9 . _ - and start with a letter or digit',
  );
export type TenantId = z.infer<typeof TenantId>;

/** The tenant of credentials that name none, and of sessions from before there were tenants. */
export const DEFAULT_TENANT = 'default';

/** Who a credential has shown a client to be. It holds nothing of the credential itself. */
export interface Identity {
  /** Unique in its tenant, and the same for all credentials of one principal: `key:ci`, `login:42`. */
  readonly principal: string;
  readonly tenant: TenantId;
  readonly roles: readonly string[];
  readonly scopes: ReadonlySet<Scope>;
  /** Names the credential, such as the id of an API key, so that it can be revoked. */
  readonly credential: string;
  /** When the credential ends: milliseconds since the epoch. */
  readonly expiresAt?: number;
}
