import { z } from 'zod';
import { Scope } from '../../core/access/scopes.ts';

const RoleName = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be lower-case letters, digits and dashes');

/** Who may use the service, and what for. */
export const AuthConfig = z.strictObject({
  /** Whether the service issues and accepts API keys. */
  apiKeys: z.boolean().default(false),
  /** What may be read without a credential, besides the probes: the documents, the metrics. */
  public: z.array(z.enum(['docs', 'metrics'])).default(['docs']),
  /** Roles besides `reader`, `user`, `approver`, `operator` and `admin`. */
  roles: z.record(RoleName, z.array(Scope)).default({}),
});
export type AuthConfig = z.infer<typeof AuthConfig>;
