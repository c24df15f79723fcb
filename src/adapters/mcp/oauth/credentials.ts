import { z } from 'zod';

/** A client that the authorization server knows. */
export const RegisteredClient = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
  /** Milliseconds since the epoch. */
  secretExpiresAt: z.number().optional(),
  /** The redirect URL that it was registered with. */
  redirectUrl: z.string().optional(),
});
export type RegisteredClient = z.infer<typeof RegisteredClient>;

export const Token = z.object({
  accessToken: z.string(),
  /** How it is presented. A DPoP token is worth nothing without the key below. */
  scheme: z.enum(['Bearer', 'DPoP']),
  refreshToken: z.string().optional(),
  /** Milliseconds since the epoch; absent if the server did not say. */
  expiresAt: z.number().optional(),
  /** When to get the next one. */
  refreshAt: z.number().optional(),
  /** All scopes that were asked for. */
  scopes: z.array(z.string()),
});
export type Token = z.infer<typeof Token>;

/** The private key of DPoP proofs, as a JWK. */
export const ProofKey = z.record(z.string(), z.unknown());
export type ProofKey = z.infer<typeof ProofKey>;

/** Nothing of one issuer is ever shown to another. */
const Issued = z.object({
  client: RegisteredClient.optional(),
  token: Token.optional(),
  proofKey: ProofKey.optional(),
});
export type Issued = z.infer<typeof Issued>;

/** What authorization servers gave for one tool server. Encrypted in the log. */
export const Credentials = z.object({
  /** The address that the tokens are for. */
  baseUrl: z.string(),
  /** The issuer whose token is in use. */
  issuer: z.string().optional(),
  /** The only issuer that may get the client of the configuration. */
  clientIssuer: z.string().optional(),
  byIssuer: z.record(z.string(), Issued),
});
export type Credentials = z.infer<typeof Credentials>;

/** @returns null if the text is none, or if it was given for another address. */
export function readCredentials(text: string | null, baseUrl: string): Credentials | null {
  if (text === null) return null;
  const { data } = Credentials.safeParse(JSON.parse(text));
  return data?.baseUrl === baseUrl ? data : null;
}
