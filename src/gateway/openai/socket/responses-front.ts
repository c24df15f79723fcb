import { serviceStopping } from '../../../core/errors.ts';
import type { Admission, Handshake, HttpResponse, SocketFront } from '../../../ports/web-server.ts';
import {
  answerHandshake,
  type HandshakeDeps,
  type KnownClient,
  knownClient,
} from '../../security/handshake.ts';
import type { OpenConnections } from '../../security/open-connections.ts';
import { loadOf, type SocketLoad } from '../../stream/socket-load.ts';
import { openAiErrorResponse } from '../openai-error.ts';
import { ResponsesConnection, type ResponsesConnectionDeps } from './responses-connection.ts';

export interface ResponsesFrontDeps extends HandshakeDeps, Omit<ResponsesConnectionDeps, 'onClosed'> {
  readonly connections: OpenConnections;
}

/** Admits the WebSockets of `/v1/responses`. */
export class ResponsesFront implements SocketFront {
  readonly #deps: ResponsesFrontDeps;
  readonly #open = new Set<ResponsesConnection>();
  #stopping = false;
  #givenUp = 0;

  constructor(deps: ResponsesFrontDeps) {
    this.#deps = deps;
  }

  get load(): SocketLoad {
    return loadOf(this.#open, this.#givenUp);
  }

  /** Never rejects. */
  admit(handshake: Handshake): Admission | HttpResponse | Promise<Admission | HttpResponse> {
    const clientOf = (): KnownClient | Promise<KnownClient> => {
      if (this.#stopping) throw serviceStopping();
      return knownClient(this.#deps, handshake);
    };
    return answerHandshake(clientOf, (client) => this.#admit(client), openAiErrorResponse);
  }

  drain(): void {
    this.#stopping = true;
    for (const connection of this.#open) connection.endAtRest();
  }

  end(): void {
    for (const connection of this.#open) connection.end();
  }

  #admit(client: KnownClient): Admission {
    const { connections } = this.#deps;
    connections.enter(client.context, client.address);
    const leave = (): void => connections.leave(client.context, client.address);
    const onClosed = (connection: ResponsesConnection): void => {
      leave();
      this.#open.delete(connection);
      if (connection.givenUp) this.#givenUp += 1;
    };
    return {
      open: (socket) => {
        const connection = new ResponsesConnection(client, socket, { ...this.#deps, onClosed });
        this.#open.add(connection);
        return connection;
      },
      release: leave,
    };
  }
}
