import type { ClientSocket } from '../../ports/client-socket.ts';
import type { HttpRequest, HttpResponse } from '../http/http-message.ts';

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
