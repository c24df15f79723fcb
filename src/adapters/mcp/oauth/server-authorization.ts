import type { z } from 'zod';
import type { HttpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { AuthorizationResponse, CredentialStore } from '../../../ports/server-authorization.ts';
import { type Mask, secretMask } from '../failure/secret-mask.ts';
import type { FlowRequest } from './authorization-flow.ts';
import { type Challenge, challengeOf } from './challenge.ts';
import { type Credentials, type Issued, readCredentials, type Token } from './credentials.ts';
import type { PendingAuthorization } from './pending-authorization.ts';

export type HttpConfig = z.infer<typeof HttpServerConfig>;

export interface AccessDeps {
  readonly credentials: CredentialStore;
  /** Where browsers come back to; null if this process has no page for them. */
  readonly redirectUrl: () => Promise<string | null>;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface RefusedRequest {
  /** That it had; null if it had none. */
  readonly token: Token | null;
  /** Whether its answer gave another nonce than the one of its proof. */
  readonly hasNewNonce: boolean;
}

/** Longest wait for one answer of an authorization server. */
const ANSWER_MS = 10_000;
/** How long no request waits for an authorization server that could not renew a token. */
const RENEW_AGAIN_MS = 10_000;
const NONCE_HEADER = 'dpop-nonce';

/** The permission to use one tool server over HTTP. Until the server answers 401, it reads, loads and sends nothing. */
export class ServerAuthorization {
  readonly config: HttpConfig;
  readonly mask: Mask;
  readonly #name: string;
  readonly #deps: AccessDeps;
  #credentials: Credentials;
  #isLoaded = false;
  #pending: PendingAuthorization | null = null;
  /** Of the tool server, for the next DPoP proof. */
  #nonce: string | undefined;
  #isForgotten = false;
  /** After a failure, the token is not renewed before: milliseconds since the epoch. */
  #renewFrom = 0;
  #flow: Promise<unknown> = Promise.resolve();

  constructor(name: string, config: HttpConfig, deps: AccessDeps) {
    this.#name = name;
    this.config = config;
    this.#deps = deps;
    this.#credentials = { baseUrl: config.baseUrl, byIssuer: {} };
    const maskConfig = secretMask(config);
    this.mask = (text) => masked(maskConfig(text), this.#credentials);
  }

  get pending(): PendingAuthorization | null {
    const isOver = this.#pending !== null && this.#pending.expiresAt <= this.#deps.now();
    return isOver ? null : this.#pending;
  }

  /** The token for the next request, replaced if it is about to expire. Null if there is none. */
  async token(): Promise<Token | null> {
    if (this.#isDue) await this.#inTurn(() => this.#renew());
    return this.#issued.token ?? null;
  }

  async headers(token: Token, method: string, url: string): Promise<Record<string, string>> {
    const { accessToken, scheme } = token;
    const authorization = { Authorization: `${scheme} ${accessToken}` };
    const { proofKey: key } = this.#issued;
    if (scheme === 'Bearer' || key === undefined) return authorization;
    const { proof } = await import('./dpop.ts');
    return { ...authorization, DPoP: await proof({ key, method, url, accessToken, nonce: this.#nonce }) };
  }

  /** @returns whether the server gave another nonce than before. */
  noteNonce({ headers }: Response): boolean {
    const nonce = headers.get(NONCE_HEADER);
    if (nonce === null || nonce === this.#nonce) return false;
    this.#nonce = nonce;
    return true;
  }

  /**
   * Does what the answer asks for.
   *
   * @returns whether the request may succeed if it is sent again. Rejects with an Error for people if a person is
   * needed, or if the authorization server refuses.
   */
  async satisfy(response: Response, { token: used, hasNewNonce }: RefusedRequest): Promise<boolean> {
    const challenge = challengeOf(response);
    if (challenge === null) return false;
    if (challenge.error === 'use_dpop_nonce') return hasNewNonce;
    return this.#inTurn(() => this.#answer(challenge, used));
  }

  /** @returns why there is no permission, for people; null if there is. */
  finish(pending: PendingAuthorization, response: AuthorizationResponse): Promise<string | null> {
    this.#pending = null;
    return this.#inTurn(async () => {
      const [{ endVisit }, { authorizationProblem }] = await Promise.all([
        import('./authorization-visit.ts'),
        import('./authorization-error.ts'),
      ]);
      const { fetch, oauth, now, credentials } = this.#request(null);
      try {
        await this.#keep(await endVisit({ pending, response, oauth, credentials, fetch, now: now() }));
        return null;
      } catch (error) {
        return authorizationProblem(error, (text) => withoutCode(this.mask(text), pending, response));
      }
    });
  }

  /** Nothing is used or kept from now on. */
  forget(): void {
    this.#isForgotten = true;
    this.#pending = null;
    this.#credentials = { baseUrl: this.config.baseUrl, byIssuer: {} };
  }

  get #issued(): Issued {
    const { issuer, byIssuer } = this.#credentials;
    return (issuer !== undefined && byIssuer[issuer]) || {};
  }

  async #answer(challenge: Challenge, used: Token | null): Promise<boolean> {
    await this.#load();
    const { token } = this.#issued;
    // Another request got it meanwhile, or it is from before the restart.
    if (token !== undefined && token.accessToken !== used?.accessToken) return true;
    const isMissing = (scope: string): boolean => token?.scopes.includes(scope) !== true;
    // The server refuses a token that has what it asks for: asking again would lead to the same.
    if (challenge.status === 403 && !challenge.scopes.some(isMissing)) return false;
    const { pending } = this;
    if (pending === null || challenge.scopes.some((scope) => !pending.scopes.includes(scope)))
      return await this.#authorize(challenge);
    throw await needsPerson();
  }

  async #authorize(challenge: Challenge): Promise<boolean> {
    const [{ authorize }, { AuthorizationError, authorizationProblem }] = await Promise.all([
      import('./authorization-flow.ts'),
      import('./authorization-error.ts'),
    ]);
    const result = await authorize(this.#request(challenge)).catch((error: unknown) => {
      throw new AuthorizationError(
        `the server asks for authorization, and ${authorizationProblem(error, this.mask)}`,
        { cause: error },
      );
    });
    if (result === null) return false;
    const { credentials, pending } = result;
    await this.#keep(credentials);
    this.#pending = this.#isForgotten ? null : pending;
    if (pending !== null) throw await needsPerson();
    return true;
  }

  get #isDue(): boolean {
    const { refreshAt } = this.#issued.token ?? {};
    const now = this.#deps.now();
    return refreshAt !== undefined && refreshAt <= now && now >= this.#renewFrom;
  }

  /** Failures are not told: the token may still work, and if it does not, the server says so. */
  async #renew(): Promise<void> {
    // Another request may have tried meanwhile.
    if (!this.#isDue) return;
    const { refreshToken } = this.#issued.token ?? {};
    const [{ authorize }, { isUnattended }, { authorizationProblem }] = await Promise.all([
      import('./authorization-flow.ts'),
      import('./wanted-scopes.ts'),
      import('./authorization-error.ts'),
    ]);
    const request = this.#request(null);
    if (refreshToken === undefined && !isUnattended(request.oauth)) return;
    try {
      const result = await authorize(request);
      if (result !== null) await this.#keep(result.credentials);
    } catch (error) {
      const reason = authorizationProblem(error, this.mask);
      this.#deps.log.debug(
        { server: this.#name, reason },
        'the token of a tool server could not be refreshed',
      );
    }
    if (this.#isDue) this.#renewFrom = this.#deps.now() + RENEW_AGAIN_MS;
  }

  #request(challenge: Challenge | null): FlowRequest {
    const { baseUrl, oauth } = this.config;
    return {
      ...{ baseUrl, challenge, credentials: this.#credentials },
      oauth: oauth === undefined || oauth === false ? {} : oauth,
      fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ANSWER_MS) }),
      redirectUrl: this.#deps.redirectUrl,
      now: this.#deps.now,
    };
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return;
    const kept = readCredentials(await this.#deps.credentials.read(this.#name), this.config.baseUrl);
    this.#isLoaded = true;
    if (kept !== null && !this.#isForgotten) this.#credentials = kept;
  }

  async #keep(credentials: Credentials): Promise<void> {
    if (this.#isForgotten || credentials === this.#credentials) return;
    this.#credentials = credentials;
    await this.#deps.credentials.keep(this.#name, JSON.stringify(credentials));
  }

  /** One at a time: of several requests that are refused at once, the first gets a token for all. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#flow.then(work);
    this.#flow = done.catch(() => undefined);
    return done;
  }
}

async function needsPerson(): Promise<Error> {
  const { AuthorizationError } = await import('./authorization-error.ts');
  return new AuthorizationError(
    'the server asks for the authorization of a person: open details.authorizationUrl, or press Authorize in the console',
  );
}

function masked(text: string, { byIssuer }: Credentials): string {
  const secrets = Object.values(byIssuer).flatMap(({ client, token }) => [
    client?.client_secret,
    token?.accessToken,
    token?.refreshToken,
  ]);
  return secrets.reduce<string>((rest, secret) => (secret ? rest.replaceAll(secret, '***') : rest), text);
}

function withoutCode(
  text: string,
  { verifier }: PendingAuthorization,
  { code }: AuthorizationResponse,
): string {
  return [verifier, code].reduce<string>(
    (rest, secret) => (secret ? rest.replaceAll(secret, '***') : rest),
    text,
  );
}
