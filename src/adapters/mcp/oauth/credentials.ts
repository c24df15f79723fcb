import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { OAuthConfig } from '../../../core/tool-server/oauth-config.ts';
import { issuerName } from './issuer-name.ts';

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

/** As whom the configuration has the service authorize itself. */
const Identity = z.object({ grant: z.string(), clientId: z.string().optional() });
type Identity = z.infer<typeof Identity>;

/** What authorization servers gave for one tool server. Encrypted in the log. */
export const Credentials = z.object({
  /** The address that the tokens are for. */
  baseUrl: z.string(),
  /** Whose tokens they are. Absent in those that an earlier version kept. */
  identity: Identity.optional(),
  /** The issuer whose token is in use. */
  issuer: z.string().optional(),
  /** Where the tool server's last challenge said that its metadata is. Absent if it did not say. */
  resourceMetadata: z.string().optional(),
  /** The only issuer that may get the client of the configuration. */
  clientIssuer: z.string().optional(),
  byIssuer: z.record(z.string(), Issued),
});
export type Credentials = z.infer<typeof Credentials>;

/** The server whose credentials they are, as it is configured. */
export interface CredentialOwner {
  readonly baseUrl: string;
  readonly oauth?: OAuthConfig | false | undefined;
}

export function noCredentials(owner: CredentialOwner): Credentials {
  return { baseUrl: owner.baseUrl, identity: identityOf(owner), byIssuer: {} };
}

/**
 * @returns null if the text is none, or if it was given for another address. Without the tokens if they were given to
 * another client or for another grant than the configuration has now, or by another issuer than the one that it allows.
 */
export function readCredentials(text: string | null, owner: CredentialOwner): Credentials | null {
  if (text === null) return null;
  const { data } = Credentials.safeParse(JSON.parse(text));
  if (data?.baseUrl !== owner.baseUrl) return null;
  const identity = identityOf(owner);
  const isSame = data.identity === undefined || isDeepStrictEqual(data.identity, identity);
  if (isSame && isAllowed(data.issuer, owner)) return { ...data, identity };
  // The client of the configuration stays bound to its issuer.
  const isSameClient = (data.identity ?? identity).clientId === identity.clientId;
  return {
    ...noCredentials(owner),
    ...(isSameClient && data.clientIssuer !== undefined && { clientIssuer: data.clientIssuer }),
    byIssuer: registeredClients(data.byIssuer),
  };
}

/** What is left without the tokens: the service need not register itself again. */
export function registeredClients(byIssuer: Credentials['byIssuer']): Credentials['byIssuer'] {
  const clients: Record<string, Issued> = {};
  for (const [issuer, { client }] of Object.entries(byIssuer)) if (client) clients[issuer] = { client };
  return clients;
}

/** What the configuration says, if anything, of how a server is authorized. */
export function oauthOf({ oauth }: CredentialOwner): OAuthConfig {
  return oauth === undefined || oauth === false ? {} : oauth;
}

function identityOf(owner: CredentialOwner): Identity {
  const { grant = 'authorization-code', clientId } = oauthOf(owner);
  return { grant, ...(clientId !== undefined && { clientId }) };
}

function isAllowed(issuer: string | undefined, owner: CredentialOwner): boolean {
  const { issuer: allowed } = oauthOf(owner);
  return allowed === undefined || issuer === undefined || issuer === issuerName(allowed);
}
