import type { Owner } from '../core/access/session-names.ts';
import type { ServiceError } from '../core/errors.ts';
import type { ClientSocket } from './client-socket.ts';

/* The interface between a web server and the protocols: the web server calls, the gateway answers. */

/** A request. It is a copy, so it stays valid after the web server has freed its own. */
export interface HttpRequest {
  /** In upper case. */
  readonly method: string;
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Address of the peer of the TCP connection. */
  readonly peerAddress: string;
  /**
   * The whole body. Rejects with `RATE_LIMIT_EXCEEDED` beyond the size limit, and does not read the rest. Nobody has to handle
   * the rejection.
   * @param client what has come, and what comes, counts for this client from now on. Rejects if it is more than its share.
   */
  body(client?: Owner): Promise<Uint8Array>;
  /**
   * The listener is called when the client goes away before its answer begins, and not when the service closes the connection.
   * At once if that was before. Absent for a request that does not come over a connection.
   * @returns a function that unsubscribes.
   */
  onLeft?(listener: () => void): () => void;
  /**
   * Counts what the answer keeps in memory until it is over, together with the bodies of requests. Throws if that is more than the
   * share of the client, or than there is. Absent for a request that does not come over a connection.
   * @param client left out for nobody.
   */
  hold?(bytes: number, client?: Owner | null): void;
}

/** How much of a body is read. */
export interface BodyLimit {
  /** What the limit is for, such as `a request`, and how large it may be, as clients are told. */
  readonly what: string;
  readonly maxBytes: number;
  /** May be more than `maxBytes`, because the base64 of an image is larger than the image. */
  readonly readBytes: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /**
   * What a stream carries: server-sent events if absent. Each chunk then contains whole events, and the web server may
   * add empty comments between them.
   */
  readonly stream?: 'events' | 'bytes';
  /**
   * Called when the service stops before the stream is over: ends it, and tells the client what is missing. Without it, a stream
   * of events ends after what it has sent, and one of bytes is broken off, so that its client does not take it for complete.
   */
  readonly onStop?: () => void;
  /** Called once, after the response is written completely or the client has disconnected. */
  readonly onOver?: () => void;
}

export interface HttpHandler {
  /** Never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** The response to a request that has none when the service ends. Never rejects. */
  interrupted(request: HttpRequest): Promise<HttpResponse>;
  /** The response to a request that the web server itself refuses. */
  refuse(error: ServiceError): HttpResponse;
}

/** A WebSocket handshake. It is a copy, as `HttpRequest` is. */
export type Handshake = Omit<HttpRequest, 'body'>;

/** Handles the events of one open socket. */
export interface SocketLife {
  /**
   * @param text null for a binary frame.
   * @param bytes size of the frame.
   */
  receive(text: string | null, bytes: number): void;
  /** The client has read buffered bytes. Called repeatedly until the buffer is empty. */
  drained(): void;
  closed(): void;
}

/** An accepted handshake. One of the two methods is called. */
export interface Admission {
  open(socket: ClientSocket): SocketLife;
  /** The socket never opens: gives its place back. */
  release(): void;
}

/** Accepts the WebSockets of one path. */
export interface SocketFront {
  /** @returns the admission, or the HTTP response that refuses the handshake. A promise only where it takes time. */
  admit(handshake: Handshake): Admission | HttpResponse | Promise<Admission | HttpResponse>;
  /** The service is stopping: refuses all later handshakes, and may end sockets whose clients wait for nothing. */
  drain(): void;
  /** Ends all open sockets, with a code that tells clients to connect again. */
  end(): void;
}
