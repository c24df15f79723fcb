import type { HttpRequestDeps } from './http-connection.ts';
import { syncMessage } from './http-load.ts';
import { openSockets, type TurnSocket } from './turns.ts';

/** A connection that streams replies, and can be dropped. */
export interface StreamSocket extends TurnSocket {
  drop(): void;
}

/** How a server is spoken to. */
export interface Protocol {
  /** A request that is answered with the whole reply to a message. */
  messageTo(session: string): HttpRequestDeps;
  /** Opens connections for streamed replies, each to its session. */
  openStreams(
    port: number,
    count: number,
    sessionOf: (index: number) => string,
  ): Promise<readonly StreamSocket[]>;
}

/** That of the service, which the controls have, too. */
export const serviceProtocol: Protocol = {
  messageTo: (session) => syncMessage(session),
  openStreams: openSockets,
};
