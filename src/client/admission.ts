import type { ErrorBody } from '../core/errors.ts';
import type { ClientEnvironment } from './client-environment.ts';
import { type HandshakeRefusal, refusalOf, unreachable } from './handshake-refusal.ts';
import { RefusedError } from './session-errors.ts';
import { ticketsUrl } from './stream-url.ts';

/** An API key or an access token, or a function that gives one. */
export type TokenSource = string | (() => string | Promise<string>);

export interface AdmissionOptions {
  /** Base URL of the service. */
  readonly base: URL;
  readonly token: TokenSource;
  readonly fetch: ClientEnvironment['fetch'];
}

/** A ticket for one connection, null when the service needs none, or why there is none. */
export type Entry = { readonly ticket: string | null } | { readonly refusal: HandshakeRefusal };

/** Longest wait for a ticket. */
const PATIENCE_MS = 10_000;

/** Reasons of a refusal that another token of the same client can overcome. */
const ENDED: readonly unknown[] = ['expired', 'revoked'];

/**
 * Gets a ticket for each connection, because a WebSocket of a browser can send no token, and URLs must have none. The
 * token of a function is kept until the service says that it has ended. The function is then asked once more.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  /** The last token of the function. */
  #kept: string | null = null;
  /** Whether a token has ended and the next one was not taken yet. Forgotten while the service is away. */
  #isRenewing = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Rejects with the error of the function that gives the token, and with a TypeError when that is no token. */
  async enter(signal: AbortSignal): Promise<Entry> {
    const entry = await this.#ask(signal);
    if (!('refusal' in entry) || !this.renew(entry.refusal.error)) return entry;
    return await this.#ask(signal);
  }

  /** The headers of a request. Rejects as `enter` does. */
  async headers(): Promise<Record<string, string>> {
    return { Accept: 'application/json', Authorization: `Bearer ${await this.#token()}` };
  }

  /** A connection was made. */
  established(): void {
    this.#isRenewing = false;
  }

  /**
   * The service closes the connection, because its token has ended.
   * @throws RefusedError when there is no other token.
   */
  ended(body: ErrorBody): void {
    const error = new RefusedError(body);
    if (!this.renew(error)) throw error;
  }

  /** Forgets a token that has ended. @returns whether there may be another one. */
  renew(error: HandshakeRefusal['error']): boolean {
    if (!hasEnded(error) || this.#isRenewing || typeof this.#options.token === 'string') return false;
    this.#isRenewing = true;
    this.#kept = null;
    return true;
  }

  async #token(): Promise<string> {
    const { token } = this.#options;
    this.#kept ??= checked(typeof token === 'string' ? token : await token());
    return this.#kept;
  }

  async #ask(signal: AbortSignal): Promise<Entry> {
    const entry = await this.#request(signal);
    // The token was not looked at. It may end before the service is back, and then there may be another one.
    if ('refusal' in entry && entry.refusal.isTemporary) this.#isRenewing = false;
    return entry;
  }

  async #request(signal: AbortSignal): Promise<Entry> {
    const { base, fetch } = this.#options;
    const url = ticketsUrl(base);
    const headers = await this.headers();
    const limit = new AbortController();
    const giveUp = () => limit.abort();
    const timer = setTimeout(giveUp, PATIENCE_MS);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      signal.throwIfAborted();
      const response = await fetch(url, {
        method: 'POST',
        headers,
        redirect: 'manual',
        signal: limit.signal,
      });
      return entryOf(response, await response.text(), url);
    } catch (cause) {
      return { refusal: unreachable(url, cause) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }
}

function hasEnded(error: HandshakeRefusal['error']): boolean {
  return (
    error instanceof RefusedError && error.code === 'UNAUTHORIZED' && ENDED.includes(error.details.reason)
  );
}

function entryOf(response: Response, text: string, url: string): Entry {
  // A service that authenticates nobody has no tickets. What else is wrong with the address, the connection shows.
  if (response.status === 400 || response.status === 404) return { ticket: null };
  const ticket = response.ok ? ticketIn(text) : undefined;
  return ticket === undefined ? { refusal: refusalOf(response, text, url) } : { ticket };
}

function ticketIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const ticket = typeof body === 'object' && body !== null && 'ticket' in body ? body.ticket : undefined;
    return typeof ticket === 'string' ? ticket : undefined;
  } catch {
    return undefined; // The caller reports that this is no service.
  }
}

/** Without this check `fetch` would refuse the token with an error that contains it. */
function checked(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TypeError('token: expected an API key or an access token: visible ASCII characters, no spaces');
}
