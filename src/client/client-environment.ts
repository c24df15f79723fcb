/** As much of a `WebSocket` as the client needs. */
export interface StreamSocket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close' | 'error', listener: () => void): void;
}

/** What the client takes from the browser or from Node; a test gives its own. */
export interface ClientEnvironment {
  readonly openSocket: (url: string) => StreamSocket;
  readonly randomId: () => string;
  /** From 0 to 1. */
  readonly random: () => number;
}

export const standardEnvironment: ClientEnvironment = {
  openSocket: (url) => new WebSocket(url),
  randomId: () => crypto.randomUUID(),
  random: Math.random,
};
