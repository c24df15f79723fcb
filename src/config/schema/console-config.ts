import { z } from 'zod';
import { IssuerUrl, ProviderUrl } from './provider-url.ts';

/** What the console itself sends, so that a setting cannot replace it. */
const OWN_PARAMETERS: readonly string[] = [
  'client_id',
  'client_secret',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'nonce',
  'redirect_uri',
  'refresh_token',
  'response_type',
  'scope',
  'state',
];

const Parameters = z.record(z.string().min(1), z.string()).superRefine((parameters, context) => {
  for (const name of Object.keys(parameters).filter((one) => OWN_PARAMETERS.includes(one))) {
    const message =
      name === 'client_secret'
        ? 'must be left out: a browser can keep no secret, so the client must be a public one'
        : 'must be left out: the console sends this parameter itself';
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

const OriginUrl = ProviderUrl.refine(
  (text) => URL.canParse(text) && new URL(text).origin === text,
  'must be an origin without a path, such as https://token.example.com',
);

/** How people sign in to the console through an identity provider. */
export const ConsoleConfig = z.strictObject({
  /** One of the issuers of `auth.jwt`. */
  issuer: IssuerUrl,
  /** The id of a public client, without a secret. */
  clientId: z.string().min(1),
  /** What the console asks for, with spaces between. */
  scope: z
    .string()
    .refine((text) => text.split(' ').includes('openid'), 'must contain openid')
    .default('openid'),
  /** More parameters of the requests to the provider, such as `resource` or `audience`. */
  parameters: Parameters.default({}),
  /** Origins that the console may reach besides that of the issuer: of the token endpoint, if it is elsewhere. */
  origins: z.array(OriginUrl).default([]),
});
export type ConsoleConfig = z.infer<typeof ConsoleConfig>;

interface SignInSettings {
  readonly console?: ConsoleConfig | undefined;
  readonly jwt: readonly { readonly issuer: string }[];
}

/** The service must accept the tokens that the console gets. */
export function checkConsoleIssuer({ console: signIn, jwt }: SignInSettings, context: z.RefinementCtx): void {
  if (!signIn || jwt.some(({ issuer }) => issuer === signIn.issuer)) return;
  const known = jwt.map(({ issuer }) => issuer).join(', ');
  const message =
    known === ''
      ? 'must also be an issuer of auth.jwt, which is empty: add it there, with its audience'
      : `must be an issuer of auth.jwt, character by character: ${known}`;
  context.addIssue({ code: 'custom', path: ['console', 'issuer'], message });
}
