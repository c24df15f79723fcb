import { createHash, timingSafeEqual } from 'node:crypto';
import { asServiceError, ServiceError, serviceStopping } from '../../core/errors.ts';
import { type ClientSocket, RESTART_CODE, RESTART_REASON } from '../../ports/client-socket.ts';
import type { Admission, Handshake, HttpResponse, SocketFront, SocketLife } from '../../ports/web-server.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Access } from '../security/access.ts';
import { addressMatcher, unmapIpv4 } from '../security/client-address.ts';
import { Recipient } from '../stream/recipient.ts';

export interface InspectFrontDeps {
  readonly access: Access;
  /** Admits clients on other machines. Without a token they are refused. */
  readonly token: string | undefined;
  /** Sends frames of the inspector's protocol until the function it returns is called. */
  readonly attach: (send: (text: string) => void) => () => void;
}

const isLoopback = addressMatcher(['127.0.0.0/8', '::1']);
/** Headers of a proxy. A proxy on this machine may forward clients of other machines. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-real-ip'];

/** `/inspect`: the XState inspector's WebSocket, for this machine or with a token. */
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

  admit(handshake: Handshake): Admission | HttpResponse {
    const { access } = this.#deps;
    const { headers } = handshake;
    try {
      access.checkHost(headers.get('host'));
      access.checkOrigin(headers.get('origin'), headers.get('host'));
      if (!this.#isAllowed(handshake)) throw notAllowed();
      if (this.#isStopping) throw serviceStopping();
    } catch (thrown) {
      return errorResponse(asServiceError(thrown));
    }
    return { open: (socket) => this.#attach(socket), release: () => undefined };
  }

  #attach(socket: ClientSocket): SocketLife {
    this.#open.add(socket);
    const client = new Recipient(socket);
    const detach = this.#deps.attach((text) => client.send(text));
    const closed = (): void => {
      this.#open.delete(socket);
      detach();
    };
    return { receive: () => undefined, drained: () => undefined, closed };
  }

  #isAllowed({ peerAddress, headers, query }: Handshake): boolean {
    const { token } = this.#deps;
    const given = new URLSearchParams(query).get('token');
    if (token !== undefined && given !== null && isSame(given, token)) return true;
    return isLoopback(unmapIpv4(peerAddress)) && !FORWARDED.some((name) => headers.has(name));
  }
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
