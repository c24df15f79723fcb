import { asServiceError, type ServiceError } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Admission, Handshake, HttpResponse } from '../../ports/web-server.ts';
import { type AgentChoice, forAgent } from '../agents/agent-choice.ts';
import { requestContext } from '../requests/authenticate.ts';
import type { ClientAddress } from './client-address.ts';
import type { OriginPolicy } from './origin-policy.ts';

export interface HandshakeDeps {
  readonly originPolicy: OriginPolicy;
  readonly authenticator: Authenticator;
  readonly clientAddress: ClientAddress;
  /** Absent where there is only one agent. */
  readonly agents?: AgentChoice | undefined;
}

/** Who opens a WebSocket, and for which agent. */
export interface KnownClient {
  readonly context: RequestContext;
  readonly address: string;
  /** What stood before the path, such as `/agents/support`. Absent if the path names no agent. */
  readonly prefix: string | undefined;
}

/** What a handshake is answered with. Never rejects. A promise only where something must be looked up. */
export function answerHandshake<Client>(
  clientOf: () => Client | Promise<Client>,
  admit: (client: Client) => Admission | HttpResponse,
  refuse: (error: ServiceError) => HttpResponse,
): Admission | HttpResponse | Promise<Admission | HttpResponse> {
  const refused = (thrown: unknown): HttpResponse => refuse(asServiceError(thrown));
  try {
    const client = clientOf();
    return client instanceof Promise ? client.then(admit).catch(refused) : admit(client);
  } catch (thrown) {
    return refused(thrown);
  }
}

/** Throws, or rejects, if the handshake is refused. A promise only where the client's token must be looked up. */
export function knownClient(deps: HandshakeDeps, handshake: Handshake): KnownClient | Promise<KnownClient> {
  const { originPolicy, agents, authenticator, clientAddress } = deps;
  const { headers, peerAddress } = handshake;
  originPolicy.checkHost(headers.get('host'));
  originPolicy.checkOrigin(headers.get('origin'), headers.get('host'));
  const address = clientAddress(peerAddress, headers.get('x-forwarded-for'));
  const chosen = agents?.of(handshake);
  const agent = chosen && (chosen.agent ?? agents?.first);
  const known = (context: RequestContext): KnownClient => ({
    context: forAgent(context, agent),
    address,
    prefix: chosen?.prefix,
  });
  const context = requestContext(authenticator, handshake, address);
  return context instanceof Promise ? context.then(known) : known(context);
}
