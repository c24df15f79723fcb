import { asServiceError, ServiceError } from '../../core/errors.ts';
import type { RequestContext, Rights } from '../../core/request/request-context.ts';
import { Expiries } from './expiries.ts';

/** A connection that stays open as long as its credential is good. */
export interface CredentialHolder {
  /** The credential has ended. The holder tells its client and closes. */
  lose(error: ServiceError): void;
  /** Throws a `ServiceError` if the client may not have this connection any more, for another reason. */
  check?(): void;
}

/** The credential of an event stream. */
export interface StreamCredential {
  hold(client: RequestContext): void;
  release(): void;
  /** @param check see `CredentialHolder`. */
  checkBy(check: () => void): void;
  /** Aborted, with a `ServiceError` as its reason, when the credential has ended. */
  readonly lost: AbortSignal;
  /** @param listener is called, at once if that was before, when the credential has ended and has not only expired. */
  onRefused(listener: (error: ServiceError) => void): void;
}

type IdentifyAgain = (token: string, client: RequestContext, address: string) => Promise<RequestContext>;

const EXPIRED = 'expired';

/**
 * The credentials of open connections, and those that were revoked while the service runs. Ends a connection when its
 * credential expires or is revoked.
 */
export class HeldCredentials {
  readonly #revoked = new Set<string>();
  readonly #held = new Map<CredentialHolder, Rights>();
  readonly #expiries: Expiries<CredentialHolder>;
  /** The client with another token of its own. Rejects as an authenticator does. */
  readonly identifyAgain: IdentifyAgain;

  constructor(identifyAgain: IdentifyAgain, now: () => number = Date.now) {
    this.identifyAgain = identifyAgain;
    this.#expiries = new Expiries((holder) => this.#end(holder, credentialExpired()), now);
  }

  /** Holds the credential of a connection, in place of the one that it held before. */
  hold(holder: CredentialHolder, { rights }: Pick<RequestContext, 'rights'>): void {
    this.release(holder);
    if (!rights) return;
    this.#held.set(holder, rights);
    if (rights.expiresAt !== undefined) this.#expiries.add(holder, rights.expiresAt);
    // The credential may have been revoked while its client was authenticated.
    if (this.#revoked.has(rights.credential)) queueMicrotask(() => this.#endRevoked(rights.credential));
  }

  release(holder: CredentialHolder): void {
    const rights = this.#held.get(holder);
    if (!rights) return;
    this.#held.delete(holder);
    if (rights.expiresAt !== undefined) this.#expiries.remove(holder, rights.expiresAt);
  }

  forStream(): StreamCredential {
    return new HeldStream(this);
  }

  revoke(credential: string): void {
    this.#revoked.add(credential);
    this.#endRevoked(credential);
  }

  /**
   * Throws `UNAUTHORIZED` if the credential of the client was revoked since the client was authenticated. That is when the
   * head of its request comes, and its body may come minutes later.
   */
  refuseRevoked({ rights }: Pick<RequestContext, 'rights'>): void {
    if (rights && this.#revoked.has(rights.credential)) throw credentialRevoked();
  }

  #endRevoked(credential: string): void {
    for (const [holder, held] of [...this.#held])
      if (held.credential === credential) this.#end(holder, credentialRevoked());
  }

  /** Ends the connections that their clients may not have any more. */
  recheck(): void {
    for (const holder of [...this.#held.keys()]) {
      try {
        holder.check?.();
      } catch (thrown) {
        this.#end(holder, asServiceError(thrown));
      }
    }
  }

  #end(holder: CredentialHolder, error: ServiceError): void {
    this.release(holder);
    holder.lose(error);
  }
}

/** Every request has one, and most need nothing of it but that it is held. */
class HeldStream implements StreamCredential, CredentialHolder {
  readonly #credentials: HeldCredentials;
  #checks: (() => void)[] | null = null;
  #onRefused: ((error: ServiceError) => void)[] | null = null;
  #lost: AbortController | null = null;
  #error: ServiceError | null = null;

  constructor(credentials: HeldCredentials) {
    this.#credentials = credentials;
  }

  get lost(): AbortSignal {
    this.#lost ??= new AbortController();
    if (this.#error) this.#lost.abort(this.#error);
    return this.#lost.signal;
  }

  hold(client: RequestContext): void {
    this.#credentials.hold(this, client);
  }

  release(): void {
    this.#credentials.release(this);
  }

  checkBy(check: () => void): void {
    this.#checks ??= [];
    this.#checks.push(check);
  }

  check(): void {
    for (const check of this.#checks ?? []) check();
  }

  onRefused(listener: (error: ServiceError) => void): void {
    if (this.#error && isRefusal(this.#error)) listener(this.#error);
    this.#onRefused ??= [];
    this.#onRefused.push(listener);
  }

  lose(error: ServiceError): void {
    this.#error = error;
    if (isRefusal(error)) for (const listener of this.#onRefused ?? []) listener(error);
    this.#lost?.abort(error);
  }
}

export function credentialExpired(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The credential has expired.', { reason: EXPIRED });
}

function credentialRevoked(): ServiceError {
  return new ServiceError('UNAUTHORIZED', 'The credential was revoked.', { reason: 'revoked' });
}

function isRefusal({ details }: ServiceError): boolean {
  return details.reason !== EXPIRED;
}
