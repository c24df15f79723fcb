import {
  type HttpRequest,
  type HttpResponse,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { asServiceError, levelOfFailure } from '../../core/errors.ts';
import type { Logger } from '../../ports/logger.ts';
import type {
  BodyLimit,
  HttpHandler,
  HttpRequest as Request,
  HttpResponse as Response,
  SocketFront,
} from '../../ports/web-server.ts';
import { within } from '../../timing/deadline.ts';
import type { BodyBudget } from './body-budget.ts';
import { copyRequest, HttpExchange, isClosed } from './http-exchange.ts';
import { framingFault, isChunked } from './request-framing.ts';
import type { UwsBroadcast } from './uws-broadcast.ts';
import { webSocketBehavior } from './web-socket-behavior.ts';

export interface UwsServerDeps {
  /** Owns the app that the server listens with. */
  readonly broadcast: UwsBroadcast;
  readonly http: HttpHandler;
  /** The fronts that WebSockets connect to, by path. */
  readonly webSockets: Readonly<Record<string, SocketFront>>;
  /** The limit on the bodies of a path; false for none. */
  readonly bodyLimit: (path: string) => BodyLimit | false;
  readonly maxPayloadBytes: number;
  /** What the bodies of all requests, and large answers, may take together. */
  readonly bodies: BodyBudget;
  readonly log: Logger;
}

/** How long `close` waits for the error answers of unanswered requests. */
const INTERRUPT_MS = 1_000;

const BODYLESS = ['GET', 'HEAD', 'OPTIONS'];

/** The web server: copies each request from uWebSockets.js, hands it to the gateway, and writes the answer. */
export class UwsServer {
  readonly #deps: UwsServerDeps;
  readonly #app: TemplatedApp;
  readonly #unanswered = new Map<HttpExchange, Request>();
  #onAnswered: () => void = () => undefined;
  /** The exchanges whose response is a stream. */
  readonly #streams = new Set<HttpExchange>();
  #listening: us_listen_socket | null = null;
  #isClosing = false;

  constructor(deps: UwsServerDeps) {
    this.#deps = deps;
    this.#app = deps.broadcast.app;
    for (const [path, front] of Object.entries(deps.webSockets))
      this.#app.ws(path, webSocketBehavior({ front, http: deps.http }, deps.maxPayloadBytes));
    this.#app.any('/*', (res, req) => this.#handle(res, req));
  }

  /** @param port 0 takes a free one. @returns the port. Rejects when the address cannot be used. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve) => {
      const listening = (socket: us_listen_socket | false): void => {
        if (socket === false) {
          resolve(import('./refuse-address.ts').then(({ refuseAddress }) => refuseAddress(host, port)));
          return;
        }
        this.#listening = socket;
        resolve(us_socket_local_port(socket));
      };
      this.#app.listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, listening);
    });
  }

  /** Accepts no WebSockets any more. HTTP requests are still answered, so that clients learn why they are refused. */
  drain(): void {
    for (const front of Object.values(this.#deps.webSockets)) front.drain();
  }

  /** Resolves when every request has its answer, or the beginning of one that is a stream. */
  async answered(): Promise<void> {
    if (this.#unanswered.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onAnswered = resolve;
    });
  }

  /**
   * Accepts no new connections. Ends every WebSocket with a code that tells clients to connect again, and every
   * stream, so that its client knows whether something is missing.
   */
  end(): void {
    this.#stopListening();
    for (const front of Object.values(this.#deps.webSockets)) front.end();
    for (const stream of this.#streams) stream.endStream();
  }

  /** Tells the clients that wait for an answer that it does not come, and closes all connections. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopListening();
    const told = Array.from(this.#unanswered, ([exchange, request]) => this.#interrupt(exchange, request));
    // The rest of a body may never come.
    await within(INTERRUPT_MS, Promise.all(told), undefined);
    this.#app.close();
  }

  /** Never rejects. */
  async #interrupt(exchange: HttpExchange, request: Request): Promise<void> {
    const { log, http } = this.#deps;
    try {
      await exchange.respond(await http.interrupted(request));
    } catch (err) {
      log.error({ method: request.method, path: request.path, err }, 'a response could not be written');
    }
  }

  #stopListening(): void {
    if (this.#listening) us_listen_socket_close(this.#listening);
    this.#listening = null;
  }

  #handle(res: HttpResponse, req: HttpRequest): void {
    const request = copyRequest(res, req);
    if (isClosed(request)) return;
    const fault = framingFault(request.headers);
    if (fault) {
      void new HttpExchange(res, request.method, { isLast: true }).respond(this.#deps.http.refuse(fault));
      return;
    }
    const exchange = new HttpExchange(res, request.method, { isLast: isChunked(request.headers) });
    const declaredBytes = Number(request.headers.get('content-length') ?? 0);
    const body = BODYLESS.includes(request.method)
      ? async () => new Uint8Array()
      : exchange.readBody(declaredBytes, {
          limit: this.#deps.bodyLimit(request.path),
          budget: this.#deps.bodies,
        });
    const onLeft = (listener: () => void): (() => void) =>
      exchange.onLeft(() => !this.#isClosing && listener());
    const hold: Request['hold'] = (bytes, client = null) => exchange.hold(bytes, client, this.#deps.bodies);
    const whole = { ...request, body, onLeft, hold };
    this.#unanswered.set(exchange, whole);
    void this.#serve(exchange, whole);
  }

  /** Never rejects. */
  async #serve(exchange: HttpExchange, request: Request): Promise<void> {
    const { log, http } = this.#deps;
    const { method, path } = request;
    let response: Response;
    try {
      response = await http.handle(request);
    } catch (err) {
      // It never rejects. If it does, the client would hold its connection and wait for ever.
      log.error({ method, path, err }, 'a request was not answered');
      response = http.refuse(asServiceError(err));
    }
    try {
      await this.#respond(exchange, response);
    } catch (err) {
      log[levelOfFailure(err)]({ method, path, err }, 'a response could not be written');
    }
  }

  async #respond(exchange: HttpExchange, response: Response): Promise<void> {
    const isStream = response.body instanceof ReadableStream;
    if (isStream) {
      this.#streams.add(exchange);
      this.#noteAnswer(exchange);
    }
    try {
      await exchange.respond(response);
    } finally {
      exchange.releaseMemory();
      if (isStream) this.#streams.delete(exchange);
      else this.#noteAnswer(exchange);
      response.onOver?.();
    }
  }

  #noteAnswer(exchange: HttpExchange): void {
    this.#unanswered.delete(exchange);
    if (this.#unanswered.size === 0) this.#onAnswered();
  }
}
