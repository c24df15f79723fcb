import { z } from 'zod';

/* Events of the API keys of a service. They have one stream, and are never erased. */

/**
 * An API key was created. `hash` is SHA-256 of its secret, in base64url; the log has the secret nowhere. `expiresAt` is
 * in milliseconds since the epoch; a key without it never expires.
 */
export const ApiKeyCreated = z.object({
  type: z.literal('api-key.created'),
  keyId: z.string(),
  name: z.string(),
  roles: z.array(z.string()).readonly(),
  tenant: z.string(),
  hash: z.string(),
  expiresAt: z.int().optional(),
});
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

/** The API key is refused from now on. */
export const ApiKeyRevoked = z.object({ type: z.literal('api-key.revoked'), keyId: z.string() });
