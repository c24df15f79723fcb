import { z } from 'zod';
import { TenantId } from '../core/access/identity.ts';
import { Scope } from '../core/access/scopes.ts';
import { Timestamp } from '../core/timestamp.ts';

/** Answer to `GET /api/whoami`. */
export const WhoamiResponse = z.object({
  principal: z.string().describe('Such as `key:ci`, for the API key of that name.'),
  tenant: TenantId,
  roles: z.array(z.string()).readonly(),
  scopes: z.array(Scope).readonly().describe('What the credential allows.'),
  expiresAt: Timestamp.optional().describe('When the credential ends. Absent for one that does not.'),
  timestamp: Timestamp,
});
export type WhoamiResponse = z.infer<typeof WhoamiResponse>;
