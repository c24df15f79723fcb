import type { RequestContext } from '../core/request/request-context.ts';

/** What a client shows of itself: the headers and the query of its request or its handshake. */
export interface Credentials {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly query: string;
}

/** Says who a client is. */
export interface Authenticator {
  /** Throws `UNAUTHORIZED` for a client that it does not let in. */
  authenticate(credentials: Credentials): RequestContext;
}
