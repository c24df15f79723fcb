import { z } from 'zod';
import { ApiKeyName, ApiKeyRecord, ApiKeyRoles } from '../core/access/api-key-record.ts';
import { TenantId } from '../core/access/identity.ts';
import { Timestamp } from '../core/timestamp.ts';
import { optional } from './requests.ts';

const MAX_DAYS = 3_650;
const timestamp = Timestamp;

/** Body of `POST /api/keys`. */
export const CreateKeyRequest = z
  .object({
    name: ApiKeyName,
    roles: ApiKeyRoles.describe('`reader`, `user`, `approver`, `operator`, `admin`, or configured ones.'),
    tenant: optional(TenantId).describe('Your own tenant, which is the default. Another one is refused.'),
    expiresAt: optional(
      z.iso.datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z' }),
    ).describe('When the key expires. A key never expires without `expiresAt` and `expiresInDays`.'),
    expiresInDays: optional(
      z.int('must be a whole number').min(1, 'must be 1 or more').max(MAX_DAYS, 'must be 3650 or less'),
    ).describe('In how many days the key expires, instead of `expiresAt`.'),
  })
  .refine(({ expiresAt, expiresInDays }) => expiresAt === undefined || expiresInDays === undefined, {
    path: ['expiresInDays'],
    error: 'must be left out if there is expiresAt',
  });

/** Path of `DELETE /api/keys/{keyId}`. The error never repeats it, because some people put the whole key there. */
export const KeyPath = z.object({
  keyId: z
    .string()
    .regex(/^[0-9A-Za-z]{8}$/, 'must be the 8 characters of the key between as_ and the next _')
    .describe('Id from the list of keys: the 8 characters after `as_`.'),
});

/** Answer to `POST /api/keys`. */
export const CreateKeyResponse = ApiKeyRecord.extend({
  status: z.literal('created'),
  key: z.string().describe('The key. Nobody can see it again: the service keeps a hash of it only.'),
  timestamp,
});
export type CreateKeyResponse = z.infer<typeof CreateKeyResponse>;

export const KeysResponse = z.object({
  keys: z.array(ApiKeyRecord).readonly().describe('In the order of their creation.'),
  timestamp,
});
export type KeysResponse = z.infer<typeof KeysResponse>;

/** Answer to `DELETE /api/keys/{keyId}`. */
export const RevokeKeyResponse = ApiKeyRecord.extend({ status: z.literal('revoked'), timestamp });
export type RevokeKeyResponse = z.infer<typeof RevokeKeyResponse>;
