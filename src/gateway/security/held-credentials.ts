import { asServiceError, ServiceError } from '../../core/errors.ts';
import type { RequestContext, Rights } from '../../core/request/request-context.ts';

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
  /** The same, but not when it has only expired. */
  readonly refused: AbortSignal;
}

type Identify = (token: string, address: string) => RequestContext | Promise<RequestContext>;

interface Held {
  readonly credential: string;
  readonly timer: NodeJS.Timeout | undefined;
}

const EXPIRED = 'expired';
/** The longest time that a timer takes, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The credentials of open connections. Ends a connection when its credential expires or is revoked. */
export class HeldCredentials {
  readonly #held = new Map<CredentialHolder, Held>();
  readonly #now: () => number;
  /** The client that a token belongs to. Throws, or rejects, as an authenticator does. */
  readonly identify: Identify;

  constructor(identify: Identify, now: () => number = Date.now) {
    this.identify = identify;
    this.#now = now;
  }

  /** Holds the credential of a connection, in place of the one that it held before. */
  hold(holder: CredentialHolder, { rights }: RequestContext): void {
    this.release(holder);
    if (!rights) return;
    this.#held.set(holder, { credential: rights.credential, timer: this.#timer(holder, rights) });
  }

  release(holder: CredentialHolder): void {
    clearTimeout(this.#held.get(holder)?.timer);
    this.#held.delete(holder);
  }

  forStream(): StreamCredential {
    const lost = new AbortController();
    const refused = new AbortController();
    const checks: (() => void)[] = [];
    const holder: CredentialHolder = {
      lose(error) {
        if (error.details.reason !== EXPIRED) refused.abort(error);
        lost.abort(error);
      },
      check() {
        for (const check of checks) check();
      },
    };
    return {
      checkBy: (check) => void checks.push(check),
      hold: (client) => this.hold(holder, client),
      release: () => this.release(holder),
      lost: lost.signal,
      refused: refused.signal,
    };
  }

  revoke(credential: string): void {
    for (const [holder, held] of [...this.#held])
      if (held.credential === credential) this.#end(holder, 'revoked', 'The credential was revoked.');
  }

  /** Ends the connections that their clients may not have any more. */
  recheck(): void {
    for (const holder of [...this.#held.keys()]) {
      try {
        holder.check?.();
      } catch (thrown) {
        this.release(holder);
        holder.lose(asServiceError(thrown));
      }
    }
  }

  #timer(holder: CredentialHolder, { expiresAt }: Rights): NodeJS.Timeout | undefined {
    if (expiresAt === undefined) return undefined;
    const left = Math.max(0, expiresAt - this.#now());
    // A credential that is good for longer than that outlives every connection.
    if (left > LONGEST_TIMER_MS) return undefined;
    return setTimeout(() => this.#end(holder, EXPIRED, 'The credential has expired.'), left).unref();
  }

  #end(holder: CredentialHolder, reason: string, message: string): void {
    this.release(holder);
    holder.lose(new ServiceError('UNAUTHORIZED', message, { reason }));
  }
}
