import type { StreamSocket } from './client-environment.ts';
import { MissingWebSocketError } from './session-errors.ts';

/** A class of sockets, such as the global `WebSocket` or that of the package `ws`. */
export type SocketClass = new (url: string) => StreamSocket;

/** A variable, so that bundlers for browsers do not look for the package. */
const PACKAGE = 'ws';

/** Opens sockets of the given class, else of the platform's, else of the package `ws`, which must be loaded first. */
export class SocketSource {
  #class: SocketClass | undefined;

  constructor(given: SocketClass | undefined) {
    this.#class = given ?? globalThis.WebSocket;
  }

  get isLoaded(): boolean {
    return this.#class !== undefined;
  }

  /** Loads the package `ws`. Rejects with a `MissingWebSocketError` if it is not installed. */
  async load(): Promise<void> {
    try {
      const { WebSocket }: { readonly WebSocket: SocketClass } = await import(/* @vite-ignore */ PACKAGE);
      this.#class = WebSocket;
    } catch (error) {
      throw new MissingWebSocketError(error);
    }
  }

  readonly open = (url: string): StreamSocket => {
    if (!this.#class) throw new MissingWebSocketError();
    return new this.#class(url);
  };
}
