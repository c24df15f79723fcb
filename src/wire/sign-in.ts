import { z } from 'zod';
import { Timestamp } from '../core/timestamp.ts';

/** Answer to `GET /api/sign-in`. */
export const SignInResponse = z.object({
  apiKeys: z.boolean().describe('Whether the service accepts API keys.'),
  provider: z
    .object({
      name: z.string().describe('What principals of this provider begin with.'),
      issuer: z.string().describe('Its metadata are below this URL, at `/.well-known/openid-configuration`.'),
      clientId: z.string().describe('Of the console: a public client, without a secret.'),
      scope: z.string(),
      parameters: z
        .record(z.string(), z.string())
        .describe('Further parameters of the authorization and the token request.'),
    })
    .optional()
    .describe('The OpenID Connect provider to sign in with; absent if there is none.'),
  timestamp: Timestamp,
});
export type SignInResponse = z.infer<typeof SignInResponse>;
