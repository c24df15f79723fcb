import type { RequestContext } from '../core/request/request-context.ts';

/** Identifies a client: headers and query of its request or WebSocket handshake. */
export interface Credentials {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly query: string;
}

export interface Authenticator {
  /** Throws `UNAUTHORIZED` if the client is refused. */
  authenticate(credentials: Credentials): RequestContext;
}
