import { ANYONE, type RequestContext } from '../../core/request/request-context.ts';
import type { StreamCredential } from '../security/held-credentials.ts';
import type { OpenConnections } from '../security/open-connections.ts';
import type { RequestTally } from '../security/request-tally.ts';

export interface RequestUseDeps {
  readonly connections: OpenConnections;
  readonly tally: RequestTally;
  /** Absent where nobody is authenticated. */
  readonly credential: StreamCredential | undefined;
}

/** What a request uses beyond itself, from when its client is known until its answer, which may be a stream, is over. */
export class RequestUse {
  readonly #deps: RequestUseDeps;
  #client: RequestContext = ANYONE;
  #address = '';
  #isStream = false;

  constructor(deps: RequestUseDeps) {
    this.#deps = deps;
  }

  get credential(): StreamCredential | undefined {
    return this.#deps.credential;
  }

  /** @param address of the client. */
  begin(client: RequestContext, address: string): void {
    this.#client = client;
    this.#address = address;
    this.#deps.credential?.hold(client);
  }

  /**
   * The answer is an event stream that may stay open as long as its client wants: it counts against the same limit as
   * WebSockets. Throws `RATE_LIMIT_EXCEEDED`.
   */
  openStream(): void {
    if (this.#isStream) return;
    this.#deps.connections.enter(this.#client, this.#address);
    this.#isStream = true;
  }

  /** The request brings so many more. Throws `RATE_LIMIT_EXCEEDED`. */
  further(requests: number): void {
    this.#deps.tally.further(this.#client, requests);
  }

  over(): void {
    const { credential, connections } = this.#deps;
    credential?.release();
    if (this.#isStream) connections.leave(this.#client, this.#address);
    this.#isStream = false;
  }
}
