import type { NeededScopes } from '../core/access/scopes.ts';
import type { ServiceError } from '../core/errors.ts';
import type { RequestContext } from '../core/request/request-context.ts';

/** Identifies a client: headers and query of its request or WebSocket handshake. */
export interface Credentials {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly query: string;
  /** In upper case. Absent for the handshake of a WebSocket. */
  readonly method?: string;
}

export interface Authenticator {
  /**
   * Throws, or rejects with, `UNAUTHORIZED` if the client is refused. Answers without a promise where it can.
   * @param address of the client.
   */
  authenticate(credentials: Credentials, address: string): RequestContext | Promise<RequestContext>;
  /**
   * Throws `FORBIDDEN` if the client lacks a scope. Absent where nobody is authenticated: then everybody has all.
   * @param what needs it, such as `GET /metrics`.
   */
  require?(context: RequestContext, needed: NeededScopes, what: string): void;
  /** Records that this was refused to the client. Absent where nobody is authenticated. */
  noteRefusal?(context: RequestContext, what: string, error: ServiceError): void;
}
