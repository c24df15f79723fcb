import { asServiceError, type ServiceError, serviceStopping } from '../../core/errors.ts';
import type { ClientSocket } from '../../ports/client-socket.ts';
import type { Admission, Handshake, HttpResponse, SocketFront, SocketLife } from '../../ports/web-server.ts';
import { StreamQuery } from '../../wire/requests.ts';
import type { ReadyResponse } from '../../wire/responses.ts';
import { errorResponse } from '../http/error-response.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import { queryFields } from '../requests/query-fields.ts';
import { parseFields } from '../requests/request-fields.ts';
import { answerHandshake, type HandshakeDeps, type KnownClient, knownClient } from '../security/handshake.ts';
import { endLost } from '../security/lost-socket.ts';
import type { OpenConnections } from '../security/open-connections.ts';
import { refusalHeaders } from '../security/rate-limits.ts';
import { loadOf, type SocketLoad } from '../stream/socket-load.ts';
import { Connection, type ConnectionDeps, type ConnectionQuery } from './connection.ts';

export interface WebSocketFrontDeps extends HandshakeDeps, Omit<ConnectionDeps, 'onClosed'> {
  readonly connections: OpenConnections;
}

/** Admits WebSockets: checks host, origin, client and the limit on connections. */
export class WebSocketFront implements SocketFront {
  readonly #deps: WebSocketFrontDeps & ConnectionDeps;
  readonly #open = new Set<Connection>();
  #stopping = false;
  #givenUp = 0;

  constructor(deps: WebSocketFrontDeps) {
    this.#deps = { ...deps, onClosed: (connection) => this.#leave(connection) };
  }

  get load(): SocketLoad {
    return loadOf(this.#open, this.#givenUp);
  }

  drain(): void {
    this.#stopping = true;
    for (const connection of this.#open)
      connection.endAtRest().catch((err: unknown) => {
        // All sockets are closed when the service has stopped.
        this.#deps.log.warn({ err }, 'a WebSocket could not be closed before the others');
      });
  }

  end(): void {
    for (const connection of this.#open) connection.end();
  }

  /** Never rejects. Synchronous unless the client's token must be looked up. */
  admit(handshake: Handshake): Admission | HttpResponse | Promise<Admission | HttpResponse> {
    const clientOf = (): KnownClient | Promise<KnownClient> => {
      if (this.#stopping) throw serviceStopping();
      return knownClient(this.#deps, handshake);
    };
    return answerHandshake(clientOf, (client) => this.#admit(handshake, client), refuse);
  }

  /** Synchronous, so that concurrent handshakes are counted exactly. */
  #admit({ query }: Handshake, { context, address }: KnownClient): Admission | HttpResponse {
    const { bus, connections } = this.#deps;
    const parameters = parseFields(StreamQuery, queryFields(StreamQuery, query));
    // Throws if the client may not hear the session.
    const topic = bus.topicOf(parameters.session, context);
    connections.enter(context, address);
    return {
      open: (socket) => this.#enter({ ...parameters, topic, context, address }, socket),
      release: () => connections.leave(context, address),
    };
  }

  /**
   * Runs the checks of a handshake without a socket. Answers its refusal, or `ready`. Clients cannot see the refusal of a
   * handshake, neither in browsers nor in Node.
   */
  async foresee(request: Handshake): Promise<HttpResponse> {
    const admission = await this.admit(request);
    if ('status' in admission) return admission;
    admission.release();
    return jsonResponse<ReadyResponse>({ status: 'ready', timestamp: now() });
  }

  /** A client that was connected is gone. */
  #leave(connection: Connection): void {
    this.#open.delete(connection);
    if (connection.givenUp) this.#givenUp += 1;
  }

  #enter(client: ConnectionQuery, socket: ClientSocket): SocketLife {
    try {
      const connection = new Connection(client, socket, this.#deps);
      this.#open.add(connection);
      return connection;
    } catch (error) {
      this.#deps.connections.leave(client.context, client.address);
      endLost(socket, asServiceError(error));
      return ENDED;
    }
  }
}

/** Of a socket that is closed already. */
const ENDED: SocketLife = { receive: () => undefined, drained: () => undefined, closed: () => undefined };

function refuse(error: ServiceError): HttpResponse {
  const response = errorResponse(error);
  return { ...response, headers: { ...response.headers, ...refusalHeaders(error) } };
}
