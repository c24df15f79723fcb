import type { ServiceError } from '../core/errors.ts';
import type { ClientSocket } from './client-socket.ts';

/* What stands between a web server and the protocols: the web server calls, the gateway answers. */

/** A request, copied out of the web server: it stays valid for as long as it is needed. */
export interface HttpRequest {
  /** In capitals. */
  readonly method: string;
  /** The path as it was sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Address of the peer of the TCP connection. */
  readonly peerAddress: string;
  /** The whole body. Rejects with `RATE_LIMIT_EXCEEDED` beyond the limit on size, and reads no further. */
  body(): Promise<Uint8Array>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is one of server-sent events, each chunk of it whole events. */
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null;
  /** Called once it is written to its end, or its client has gone. */
  readonly onOver?: () => void;
}

/** What answers HTTP requests. */
export interface HttpHandler {
  /** Never rejects. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** The answer to a request that the web server refuses by itself. */
  refuse(error: ServiceError): HttpResponse;
}

/** A WebSocket handshake, copied out of the web server. */
export type Handshake = Omit<HttpRequest, 'body'>;

/** What lives as long as a client's socket is open. */
export interface SocketLife {
  /** @param text null for a binary frame. @param bytes size of the frame. */
  receive(text: string | null, bytes: number): void;
  /** The socket has sent what it had kept. */
  drained(): void;
  closed(): void;
}

/** An accepted handshake. When the socket closes, or never opens, `release` gives its place back. */
export interface Admission {
  open(socket: ClientSocket): SocketLife;
  release(): void;
}

/** What stands behind a path to which WebSockets connect. */
export interface SocketFront {
  /** @returns the admission, or the HTTP response that refuses the handshake. */
  admit(handshake: Handshake): Admission | HttpResponse;
  /** From now on handshakes are refused. */
  stop(): void;
}
