/** The identity provider that people sign in with, as `GET /api/sign-in` tells it. */
export interface Provider {
  /** What its principals begin with. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly scope: string;
  /** Further parameters of requests to the provider. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** How people can sign in. */
export interface SignInWays {
  readonly apiKeys: boolean;
  readonly provider?: Provider | undefined;
}
