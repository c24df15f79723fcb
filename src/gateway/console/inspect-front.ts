import { createHash, timingSafeEqual } from 'node:crypto';
import { auditedClient } from '../../core/access/audited-client.ts';
import { ServiceError, serviceStopping } from '../../core/errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Audit } from '../../ports/audit.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import {
  type ClientSocket,
  CREDENTIAL_OVER_CODE,
  RESTART_CODE,
  RESTART_REASON,
} from '../../ports/client-socket.ts';
import type { Admission, Handshake, HttpResponse, SocketFront, SocketLife } from '../../ports/web-server.ts';
import { errorResponse } from '../http/error-response.ts';
import { requestContext } from '../requests/authenticate.ts';
import { addressMatcher, type ClientAddress, unmapIpv4 } from '../security/client-address.ts';
import { answerHandshake } from '../security/handshake.ts';
import type { CredentialHolder, HeldCredentials } from '../security/held-credentials.ts';
import type { OriginPolicy } from '../security/origin-policy.ts';
import { Recipient } from '../stream/recipient.ts';

export interface InspectFrontDeps {
  readonly originPolicy: OriginPolicy;
  /** Whoever has this token of the machine sees all machines. */
  readonly token: string | undefined;
  /** Absent where nobody is authenticated: then everybody on this machine sees all machines. */
  readonly clients?: InspectingClients | undefined;
  /**
   * Sends frames of the inspector's protocol until the function it returns is called.
   * @param client null: sees all machines.
   */
  readonly attach: (send: (text: string) => void, client: RequestContext | null) => () => void;
}

/** How clients are identified. */
export interface InspectingClients {
  readonly authenticator: Authenticator;
  readonly credentials: HeldCredentials;
  readonly audit: Pick<Audit, 'record'>;
  readonly clientAddress: ClientAddress;
}

/** As the audit trail has it. */
const WHAT = 'GET /inspect';

const isLoopback = addressMatcher(['127.0.0.0/8', '::1']);
/** Headers of a proxy. A proxy on this machine may forward clients of other machines. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/**
 * `/inspect`: the XState inspector's WebSocket, for this machine or with a token. Where clients are authenticated, it is
 * for admins, and shows an admin what belongs to the tenant.
 */
export class InspectFront implements SocketFront {
  readonly #deps: InspectFrontDeps;
  readonly #open = new Set<ClientSocket>();
  #isStopping = false;

  constructor(deps: InspectFrontDeps) {
    this.#deps = deps;
  }

  drain(): void {
    this.#isStopping = true;
  }

  end(): void {
    for (const socket of this.#open) socket.end(RESTART_CODE, RESTART_REASON);
  }

  admit(handshake: Handshake): Admission | HttpResponse | Promise<Admission | HttpResponse> {
    return answerHandshake(
      () => this.#clientOf(handshake),
      (client) => this.#admission(handshake, client),
      errorResponse,
    );
  }

  /** Null for a client that sees all machines. Throws, or rejects, if the client is refused. */
  #clientOf(handshake: Handshake): RequestContext | null | Promise<RequestContext> {
    const { originPolicy, clients } = this.#deps;
    const { headers } = handshake;
    originPolicy.checkHost(headers.get('host'));
    originPolicy.checkOrigin(headers.get('origin'), headers.get('host'));
    if (this.#isStopping) throw serviceStopping();
    if (this.#hasToken(handshake)) return null;
    if (!clients) {
      if (!isOfThisMachine(handshake)) throw notAllowed();
      return null;
    }
    return requestContext(clients.authenticator, handshake, addressOf(handshake, clients));
  }

  #admission(handshake: Handshake, client: RequestContext | null): Admission {
    const { clients } = this.#deps;
    if (client) clients?.authenticator.require?.(client, 'admin', WHAT);
    if (clients) {
      // Whoever has the token of the machine is known by the address alone.
      const who = client ? auditedClient(client) : { address: addressOf(handshake, clients) };
      // The inspector may show the content of all conversations of the tenant, or of all tenants.
      clients.audit.record({ ...who, what: WHAT, outcome: 'ok' });
    }
    return { open: (socket) => this.#attach(socket, client), release: () => undefined };
  }

  #attach(socket: ClientSocket, client: RequestContext | null): SocketLife {
    this.#open.add(socket);
    const { attach, clients } = this.#deps;
    const recipient = new Recipient(socket);
    const detach = attach((text) => recipient.send(text), client);
    const holder: CredentialHolder = {
      lose: ({ details }) => socket.end(CREDENTIAL_OVER_CODE, String(details.reason)),
    };
    if (client) clients?.credentials.hold(holder, client);
    const closed = (): void => {
      this.#open.delete(socket);
      clients?.credentials.release(holder);
      detach();
    };
    return { receive: () => undefined, drained: () => undefined, closed };
  }

  #hasToken({ query }: Handshake): boolean {
    const { token } = this.#deps;
    const given = new URLSearchParams(query).get('token');
    return token !== undefined && given !== null && isSame(given, token);
  }
}

function addressOf({ peerAddress, headers }: Handshake, { clientAddress }: InspectingClients): string {
  return clientAddress(peerAddress, headers.get('x-forwarded-for'));
}

function isOfThisMachine({ peerAddress, headers }: Handshake): boolean {
  return isLoopback(unmapIpv4(peerAddress)) && !FORWARDED.some((name) => headers.has(name));
}

/** Compares in constant time. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

function notAllowed(): ServiceError {
  return new ServiceError('FORBIDDEN', 'The inspector accepts only clients on this machine.', {
    field: 'token',
    issue: 'the client is on another machine, or behind a proxy, and has no valid token',
    suggestion: 'Set AGENT_SERVICE_INSPECT_TOKEN for the service and connect to /inspect?token=….',
  });
}
