import type { AuthInfo } from '@modelcontextprotocol/server';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ServedRequest } from '../http/http-message.ts';
import type { SessionReader } from '../security/held-session.ts';

/** Who sent a request of HTTP, as it travels through the SDK to the handler of each call. */
class Asker implements SessionReader {
  readonly context: RequestContext;
  readonly credential: SessionReader['credential'];

  constructor({ context, credential }: ServedRequest) {
    this.context = context;
    this.credential = credential;
  }
}

/** Each call is made with the rights of its own request: those of a later token may be fewer. */
export function authInfoOf(request: ServedRequest): { authInfo?: AuthInfo } {
  const { context } = request;
  if (!context.rights) return {};
  // The token stays here: nobody beyond needs it.
  const extra = { asker: new Asker(request) };
  return { authInfo: { token: '', clientId: context.principal, scopes: [], extra } };
}

/** @param opener who opened the MCP session: the same principal, perhaps with other rights. */
export function askerOf(authInfo: AuthInfo | undefined, opener: RequestContext): SessionReader {
  const asker = authInfo?.extra?.asker;
  return asker instanceof Asker ? asker : { context: opener };
}
