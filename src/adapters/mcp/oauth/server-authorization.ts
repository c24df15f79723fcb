import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { HttpServerConfig } from '../../../core/tool-server/mcp-server-config.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { AuthorizationResponse, CredentialStore } from '../../../ports/server-authorization.ts';
import { SerialQueue } from '../../../timing/serial-queue.ts';
import { type Mask, secretMask } from '../failure/secret-mask.ts';
import type { FlowRequest } from './authorization-flow.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { type Challenge, challengeOf } from './challenge.ts';
import {
  type Credentials,
  type Issued,
  noCredentials,
  oauthOf,
  readCredentials,
  type Token,
} from './credentials.ts';
import type { PendingAuthorization } from './pending-authorization.ts';
import { publicFetch } from './public-fetch.ts';

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
/** How often a node looks whether another one has renewed the token, and how many times. */
const POLL_MS = 250;
const MAX_POLLS = 120;
const NONCE_HEADER = 'dpop-nonce';

/** The permission to use one tool server over HTTP. Until the server answers 401, it reads, loads and sends nothing. */
export class ServerAuthorization {
  readonly config: HttpConfig;
  readonly mask: Mask;
  readonly #name: string;
  readonly #deps: AccessDeps;
  #credentials: Credentials;
  #isLoaded = false;
  /** Whether the log could not keep what this process was given last. */
  #isAhead = false;
  #pending: PendingAuthorization | null = null;
  /** Of the tool server, for the next DPoP proof. */
  #nonce: string | undefined;
  #isForgotten = false;
  #isRetired = false;
  /** After a failure, the token is not renewed before: milliseconds since the epoch. */
  #renewFrom = 0;
  /** Of several requests that are refused at once, the first gets a token for all. */
  readonly #flow = new SerialQueue();

  constructor(name: string, config: HttpConfig, deps: AccessDeps) {
    this.#name = name;
    this.config = config;
    this.#deps = deps;
    this.#credentials = noCredentials(config);
    const maskConfig = secretMask(config);
    this.mask = (text) => masked(maskConfig(text), this.#credentials);
  }

  get pending(): PendingAuthorization | null {
    const isOver = this.#pending !== null && this.#pending.expiresAt <= this.#deps.now();
    return isOver ? null : this.#pending;
  }

  /** The token for the next request, replaced if it is about to expire. Null if there is none. */
  async token(): Promise<Token | null> {
    if (this.#isDue) await this.#flow.run(() => this.#renew());
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
    return this.#flow.run(() => this.#answer(challenge, used));
  }

  /** @returns why there is no permission, for people; null if there is. */
  finish(pending: PendingAuthorization, response: AuthorizationResponse): Promise<string | null> {
    this.#pending = null;
    return this.#flow.run(async () => {
      const [{ endVisit }, { authorizationProblem }] = await Promise.all([
        import('./authorization-visit.ts'),
        import('./authorization-error.ts'),
      ]);
      const { fetch, oauth, now, credentials } = this.#request();
      try {
        await this.#keep(await endVisit({ pending, response, oauth, credentials, fetch, now: now() }));
        return null;
      } catch (error) {
        return authorizationProblem(error, (text) => withoutCode(this.mask(text), pending, response));
      }
    });
  }

  /** @returns whether another node was given what this one has sent a person for. */
  async wasAuthorizedElsewhere(): Promise<boolean> {
    if (this.#pending === null || !this.#deps.credentials.isShared) return false;
    return this.#flow.run(async () => {
      if (this.#pending === null) return false;
      await this.#load();
      return this.#pending === null;
    });
  }

  /**
   * Another one has taken the place of this one. From now on it asks no authorization server and writes nothing, and uses the
   * token that it has, or the one that its successor has kept.
   */
  retire(): void {
    this.#isRetired = true;
    this.#pending = null;
  }

  /** Nothing is used or kept from now on. */
  forget(): void {
    this.#isForgotten = true;
    this.#pending = null;
    this.#credentials = noCredentials(this.config);
  }

  get #issued(): Issued {
    return issuedIn(this.#credentials);
  }

  async #answer(challenge: Challenge, used: Token | null): Promise<boolean> {
    await this.#load();
    if (this.#hasOther(used)) return true;
    if (this.#isRetired) return false;
    const { token } = this.#issued;
    const isMissing = (scope: string): boolean => token?.scopes.includes(scope) !== true;
    // The server refuses a token that has what it asks for: asking again would lead to the same.
    if (challenge.status === 403 && !challenge.scopes.some(isMissing)) return false;
    const { pending } = this;
    const isCovered = challenge.scopes.every((scope) => pending?.scopes.includes(scope));
    const awaited = isCovered ? pending : null;
    // While a person is asked for more scopes, the service goes on with those that it has.
    const isRefreshable = challenge.status === 401 && token?.refreshToken !== undefined;
    if (awaited !== null && !isRefreshable) throw await needsPerson();
    return await this.#alone(used, () => this.#authorize({ challenge, awaited }, used));
  }

  /** Another request got it meanwhile, or another node, or it is from before the restart. */
  #hasOther(used: Token | null): boolean {
    const { token } = this.#issued;
    return token !== undefined && token.accessToken !== used?.accessToken;
  }

  /** A refresh token may be good only once: so the nodes do this one after the other, with what the last one was given. */
  async #alone(used: Token | null, work: () => Promise<boolean>): Promise<boolean> {
    const { credentials } = this.#deps;
    for (let polls = 0; !(await credentials.claim(this.#name)); polls += 1) {
      if (polls === MAX_POLLS) throw new Error('another node has been asking for authorization for too long');
      await pause(POLL_MS);
      await this.#load();
      if (this.#hasOther(used)) return true;
    }
    try {
      await this.#load();
      return this.#hasOther(used) || (await work());
    } finally {
      await credentials.release(this.#name);
    }
  }

  async #authorize(asked: Pick<FlowRequest, 'challenge' | 'awaited'>, used: Token | null): Promise<boolean> {
    const [{ authorize }, { AuthorizationError, authorizationProblem }] = await Promise.all([
      import('./authorization-flow.ts'),
      import('./authorization-error.ts'),
    ]);
    const result = await authorize({ ...this.#request(), ...asked }).catch((error: unknown) => {
      throw new AuthorizationError(
        `the server asks for authorization, and ${authorizationProblem(error, this.mask)}`,
        { cause: error },
      );
    });
    if (result === null) return false;
    const { credentials, pending } = result;
    if (pending !== null) {
      // A person may have come back to another node meanwhile. Its token must stay.
      await this.#load();
      if (this.#hasOther(used)) return true;
    }
    await this.#keep(credentials);
    this.#pending = this.#isForgotten || this.#isRetired ? null : (pending ?? asked.awaited);
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
    const [{ isUnattended }, { authorizationProblem }] = await Promise.all([
      import('./wanted-scopes.ts'),
      import('./authorization-error.ts'),
    ]);
    const { credentials, now } = this.#deps;
    try {
      await this.#load();
      if (!this.#isDue) return;
      if (this.#isRetired) {
        this.#renewFrom = now() + POLL_MS;
        return;
      }
      const isRenewable = this.#issued.token?.refreshToken !== undefined;
      if (!isRenewable && !isUnattended(this.#request().oauth)) return;
      if (!(await credentials.claim(this.#name))) {
        // Another node renews it, and the present one works until then.
        this.#renewFrom = now() + POLL_MS;
        return;
      }
      await this.#renewNow().finally(() => credentials.release(this.#name));
    } catch (error) {
      const reason = authorizationProblem(error, this.mask);
      this.#deps.log.debug(
        { server: this.#name, reason },
        'the token of a tool server could not be refreshed',
      );
    }
    if (this.#isDue) this.#renewFrom = now() + RENEW_AGAIN_MS;
  }

  async #renewNow(): Promise<void> {
    const { authorize } = await import('./authorization-flow.ts');
    await this.#load();
    if (!this.#isDue) return;
    const result = await authorize(this.#request());
    if (result !== null) await this.#keep(result.credentials);
  }

  #request(): FlowRequest {
    const { baseUrl } = this.config;
    const oauth = oauthOf(this.config);
    return {
      baseUrl,
      challenge: null,
      awaited: null,
      credentials: this.#credentials,
      oauth,
      fetch: publicFetch({
        baseUrl,
        chosen: [oauth.issuer, oauth.identityProvider?.tokenUrl],
        fetch: boundedFetch((input, init) =>
          fetch(input, { ...init, signal: AbortSignal.timeout(ANSWER_MS) }),
        ),
      }),
      redirectUrl: this.#deps.redirectUrl,
      now: this.#deps.now,
    };
  }

  /** Takes over what the log has. Once, if nobody else writes it: no other node, and no successor. */
  async #load(): Promise<void> {
    const { credentials } = this.#deps;
    if (this.#isLoaded && !credentials.isShared && !this.#isRetired) return;
    if (this.#isAhead) {
      if (this.#isRetired) return;
      await this.#write().catch((err: unknown) =>
        this.#deps.log.debug({ server: this.#name, err }, 'an authorization could not be kept'),
      );
      return;
    }
    const kept = readCredentials(await credentials.read(this.#name), this.config);
    this.#isLoaded = true;
    if (kept === null || this.#isForgotten) return;
    if (this.#isRetired && issuedIn(kept).token === undefined) return;
    const former = this.#issued.token;
    this.#credentials = kept;
    const { token } = this.#issued;
    const isNew = token !== undefined && token.accessToken !== former?.accessToken;
    if (isNew && this.#pending?.scopes.every((scope) => token.scopes.includes(scope))) this.#pending = null;
  }

  async #keep(credentials: Credentials): Promise<void> {
    if (this.#isForgotten || credentials === this.#credentials) return;
    this.#credentials = credentials;
    if (!this.#isRetired) await this.#write();
  }

  async #write(): Promise<void> {
    this.#isAhead = true;
    await this.#deps.credentials.keep(this.#name, JSON.stringify(this.#credentials));
    this.#isAhead = false;
  }
}

function issuedIn({ issuer, byIssuer }: Credentials): Issued {
  return (issuer !== undefined && byIssuer[issuer]) || {};
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
