import { ServiceError } from '../../../core/errors.ts';
import type { Bus } from '../../../ports/bus.ts';
import { type ClientSocket, RESTART_CODE, RESTART_REASON } from '../../../ports/client-socket.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { SocketLife } from '../../../ports/web-server.ts';
import { errorCatalogue } from '../../../wire/error-catalogue.ts';
import { clientError } from '../../requests/client-error.ts';
import { parseJsonObject } from '../../requests/request-fields.ts';
import { FrameLimits, type FrameLimitsDeps } from '../../security/frame-limits.ts';
import type { KnownClient } from '../../security/handshake.ts';
import type { CredentialHolder, HeldCredentials } from '../../security/held-credentials.ts';
import { endLost } from '../../security/lost-socket.ts';
import { RefusedFrames } from '../../security/refused-frames.ts';
import { Recipient } from '../../stream/recipient.ts';
import type { SignalFanOut } from '../../stream/signal-fan-out.ts';
import { openAiError } from '../openai-error.ts';
import { imagesLength } from '../responses/input-images.ts';
import type { SocketResponse } from './socket-response.ts';

export interface ResponsesConnectionDeps extends FrameLimitsDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  /** Absent where nobody is authenticated. */
  readonly credentials?: HeldCredentials | undefined;
  readonly log: Logger;
  /** The socket is closed. */
  readonly onClosed: (connection: ResponsesConnection) => void;
}

/** A client that asks for one response after the other over its socket. */
export class ResponsesConnection implements SocketLife, CredentialHolder {
  readonly #client: KnownClient;
  readonly #socket: ClientSocket;
  /** Gets what is said beside responses. Those wait by themselves for a client that does not read. */
  readonly #recipient: Recipient;
  readonly #deps: ResponsesConnectionDeps;
  readonly #limits: FrameLimits;
  readonly #refused: RefusedFrames;
  /** Whether a request is answered. The next one is refused until then, so that nothing piles up. */
  #isBusy = false;
  #response: SocketResponse | null = null;
  #isClosed = false;
  #isEnding = false;

  constructor(client: KnownClient, socket: ClientSocket, deps: ResponsesConnectionDeps) {
    this.#client = client;
    this.#socket = socket;
    this.#recipient = new Recipient(socket);
    this.#deps = deps;
    this.#limits = new FrameLimits(deps, imagesLength);
    this.#refused = new RefusedFrames(socket);
    deps.credentials?.hold(this, client.context);
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes();
  }

  /** Whether the socket was closed because the client does not read. */
  get givenUp(): boolean {
    return this.#recipient.givenUp;
  }

  receive(text: string | null, bytes: number): void {
    this.#limits.admit(this.#client.context, text, bytes).then(
      (frame) => {
        this.#refused.endRow();
        this.#handle(frame).catch((error: unknown) => this.#refuse(error));
      },
      (error: unknown) => {
        if (this.#refused.add()) this.#refuse(error);
      },
    );
  }

  drained(): void {
    this.#response?.drained();
  }

  check(): void {
    this.#response?.check();
  }

  lose(error: ServiceError): void {
    this.#refuse(error);
    endLost(this.#socket, error);
  }

  /** Ends the socket as soon as its response is over. */
  endAtRest(): void {
    this.#isEnding = true;
    if (!this.#isBusy) this.end();
  }

  /** Ends the socket now. Its turn goes on when the service is back. */
  end(): void {
    this.#isEnding = true;
    this.#response?.stop();
    this.#socket.end(RESTART_CODE, RESTART_REASON);
  }

  closed(): void {
    this.#isClosed = true;
    this.#deps.credentials?.release(this);
    this.#limits.forget();
    if (this.#response) this.#leave(this.#response);
    this.#deps.onClosed(this);
  }

  /** A client that goes away ends its response. When the service ends, its turn goes on later. */
  #leave(response: SocketResponse): void {
    if (this.#isEnding) response.stop();
    else response.abandon();
  }

  async #handle(text: string): Promise<void> {
    const response = await this.#answer(parseJsonObject(text, 'frame'));
    // A client that has the last event may ask for the next response meanwhile.
    await response.forget();
  }

  async #answer(frame: object): Promise<SocketResponse> {
    if (this.#isBusy) throw inProgress();
    this.#isBusy = true;
    try {
      const { SocketResponse } = await import('./socket-response.ts');
      const maxImageBytes = this.#deps.maxRequestBytes;
      const response = await SocketResponse.begin({ ...this.#deps, maxImageBytes }, this.#client, frame);
      this.#response = response;
      // Before anything could be told.
      if (this.#isClosed) this.#leave(response);
      else await response.tell(this.#socket);
      return response;
    } finally {
      this.#response = null;
      this.#isBusy = false;
      if (this.#isEnding) this.#socket.end(RESTART_CODE, RESTART_REASON);
    }
  }

  #refuse(thrown: unknown): void {
    const error = clientError(thrown, this.#deps.log, {}, 'a response could not be told');
    const { status } = errorCatalogue[error.code];
    this.#recipient.send(JSON.stringify({ type: 'error', status, ...openAiError(error) }));
  }
}

function inProgress(): ServiceError {
  return new ServiceError('SESSION_BUSY', 'A response is in progress on this connection.', {
    reason: 'a connection tells one response after the other',
    suggestion: 'Wait for its last event, or open another connection.',
  });
}
