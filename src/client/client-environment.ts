/** The part of the standard `WebSocket` that the client uses. */
export interface StreamSocket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close' | 'error', listener: () => void): void;
}

/** What the client needs from its platform. The default works in browsers and in Node; tests pass their own. */
export interface ClientEnvironment {
  readonly openSocket: (url: string) => StreamSocket;
  /** Asks why a connection was refused, because a WebSocket does not say it. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Makes the ids of messages and commands, which must be unique within a session. */
  readonly randomId: () => string;
  /** A number from 0 (inclusive) to 1 (exclusive), like `Math.random`. */
  readonly random: () => number;
}

export const standardEnvironment: Omit<ClientEnvironment, 'openSocket'> = {
  fetch: (url, init) => fetch(url, init),
  randomId: () => crypto.randomUUID(),
  random: Math.random,
};
