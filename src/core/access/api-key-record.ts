import { z } from 'zod';
import { Timestamp } from '../timestamp.ts';
import { TenantId } from './identity.ts';

/** The name of an API key. Keys of one tenant that have the same name are the same principal. */
export const ApiKeyName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 characters of A-Z a-z 0-9 . _ - and start with a letter or digit',
  )
  .describe('Keys of one tenant with the same name are the same principal, `key:NAME`.');

/** The roles of an API key, by name. */
export const ApiKeyRoles = z
  .array(z.string().min(1, 'must not be empty').max(40, 'must have at most 40 characters'))
  .min(1, 'must have at least one role')
  .max(20, 'must have at most 20 roles')
  .readonly();

/** An API key as its administrators see it. Neither its secret nor its hash is part of it. */
export const ApiKeyRecord = z.object({
  keyId: z.string().describe('Names the key. It is the part of the key after `as_`.'),
  name: ApiKeyName,
  roles: ApiKeyRoles,
  tenant: TenantId,
  status: z.enum(['active', 'expired', 'revoked']).describe('Only an `active` key is accepted.'),
  createdAt: Timestamp,
  expiresAt: Timestamp.optional().describe('Absent if the key never expires.'),
  revokedAt: Timestamp.optional().describe('Absent if the key was not revoked.'),
});
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;

/** What somebody wants a new API key to be. */
export interface NewApiKey {
  readonly name: string;
  readonly roles: readonly string[];
  readonly tenant: TenantId;
  /** Milliseconds since the epoch. A key without it never expires. */
  readonly expiresAt?: number | undefined;
}

/** A new API key. This is the only moment at which its text is known. */
export interface CreatedApiKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}
