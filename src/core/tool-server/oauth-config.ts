import { z } from 'zod';

const text = z.string().min(1);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

/** The login of the user at a company's identity provider, which is exchanged for a grant (SEP-990). */
const IdentityProvider = z.strictObject({
  /** The provider's token endpoint. */
  tokenUrl: httpUrl,
  /** The client to which the ID token was issued. */
  clientId: text,
  clientSecret: text.optional(),
  idToken: text,
});

/** How a tool server that answers 401 is authorized. Nothing is required: a server and its answers tell the rest. */
export const OAuthConfig = z
  .strictObject({
    grant: z
      .enum(['authorization-code', 'client-credentials', 'jwt-bearer', 'identity-assertion'])
      .optional(),
    /** The only authorization server that gets this client's credentials. Without it, the first one that was seen. */
    issuer: httpUrl.optional(),
    /** The id of a client that was registered by hand. Without it, the service registers itself. */
    clientId: text.optional(),
    clientSecret: text.optional(),
    /** PKCS#8 in PEM. Signs the assertions with which the client authenticates (`private_key_jwt`). */
    privateKey: text.optional(),
    keyAlgorithm: z.enum(['ES256', 'ES384', 'ES512', 'RS256', 'PS256']).optional(),
    /** Address of a client id metadata document, which is then the client's id. */
    clientMetadataUrl: z
      .url({ protocol: /^https$/, error: 'must be an https:// URL' })
      .refine(
        (url) => new URL(url).pathname !== '/',
        'must have a path: the document has an address of its own',
      )
      .optional(),
    /** Requested besides those that the server asks for. Without them, those that its metadata lists. */
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, 'must be one scope without spaces'))
      .optional(),
    /** The assertion of the grant `jwt-bearer`, such as the token of a workload. */
    jwt: text.optional(),
    /** A file that holds the assertion. It is read for each request, because platforms replace it. */
    jwtFile: text.optional(),
    identityProvider: IdentityProvider.optional(),
  })
  .superRefine(checkGrant);
export type OAuthConfig = z.infer<typeof OAuthConfig>;

function checkGrant(oauth: OAuthConfig, context: z.RefinementCtx): void {
  const report = (key: keyof OAuthConfig, message: string): void =>
    context.addIssue({ code: 'custom', path: [key], message, params: { isWhole: true }, input: oauth[key] });
  if (oauth.clientId === undefined)
    for (const key of ['clientSecret', 'privateKey'] as const)
      if (oauth[key] !== undefined) report(key, 'needs the clientId that it belongs to');
  for (const [key, message] of missing(oauth)) report(key, message);
}

function missing({ grant, ...oauth }: OAuthConfig): [keyof OAuthConfig, string][] {
  const lacks = (key: keyof typeof oauth, what: string): [keyof OAuthConfig, string][] =>
    oauth[key] === undefined ? [[key, `is missing: the grant ${grant} needs ${what}`]] : [];
  switch (grant) {
    case undefined:
    case 'authorization-code':
      return [];
    case 'client-credentials':
      return [
        ...lacks('clientId', 'the id of a registered client'),
        ...(oauth.privateKey === undefined ? lacks('clientSecret', 'clientSecret or privateKey') : []),
      ];
    case 'jwt-bearer':
      return [
        ...lacks('clientId', 'the id of a registered client'),
        ...(oauth.jwtFile === undefined ? lacks('jwt', 'jwt or jwtFile') : []),
      ];
    case 'identity-assertion':
      return [
        ...lacks('clientId', 'the id of a registered client'),
        ...lacks('identityProvider', 'the login at the identity provider'),
      ];
    default:
      return grant satisfies never;
  }
}
