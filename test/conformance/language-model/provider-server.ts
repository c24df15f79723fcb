import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';
import type { ReceivedRequest } from './harness.ts';

/** One answer as bytes. */
export interface WireAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each is sent in a packet of its own. */
  readonly packets: readonly (string | Uint8Array)[];
  /** `hang`: nothing follows and the connection stays open. Without packets not even a head is sent then. */
  readonly lastly?: 'end' | 'hang' | 'reset';
}

/** Answers HTTP requests one after the other as it is told to. */
export class ProviderServer implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;
  readonly #answers: readonly WireAnswer[];
  readonly #otherwise: WireAnswer;
  readonly #open = new Set<ServerResponse>();
  readonly #arrived = new Map<number, PromiseWithResolvers<void>>();
  readonly #answered = new Map<number, PromiseWithResolvers<void>>();

  private constructor(server: Server, answers: readonly WireAnswer[], otherwise: WireAnswer) {
    this.#server = server;
    this.#answers = answers;
    this.#otherwise = otherwise;
    server.on('request', (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** @param otherwise answers all requests beyond the `answers`. */
  static async listen(answers: readonly WireAnswer[], otherwise: WireAnswer): Promise<ProviderServer> {
    const server = createServer();
    const provider = new ProviderServer(server, answers, otherwise);
    await listenLocally(server);
    return provider;
  }

  /** For `llm.baseURL`. */
  get baseURL(): string {
    return `${originOf(this.#server)}/v1`;
  }

  arrived(number: number): Promise<void> {
    return eventOf(this.#arrived, number).promise;
  }

  answered(number: number): Promise<void> {
    return eventOf(this.#answered, number).promise;
  }

  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all([...this.#open].map((response) => once(response, 'close')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAtOnce(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    const text = await textOf(request);
    const number = this.requests.push({ headers: request.headers, text }) - 1;
    response.once('finish', () => eventOf(this.#answered, number).resolve());
    eventOf(this.#arrived, number).resolve();
    await send(response, this.#answers[number] ?? this.#otherwise);
  }
}

function eventOf(
  events: Map<number, PromiseWithResolvers<void>>,
  number: number,
): PromiseWithResolvers<void> {
  const event = events.get(number) ?? Promise.withResolvers<void>();
  events.set(number, event);
  return event;
}

async function send(
  response: ServerResponse,
  { status = 200, headers, packets, lastly }: WireAnswer,
): Promise<void> {
  if (lastly === 'hang' && packets.length === 0) return;
  response.writeHead(status, { 'content-type': 'text/event-stream', ...headers });
  for (const packet of packets) {
    await write(response, packet);
    if (response.destroyed) return;
  }
  if (lastly === 'reset') response.socket?.resetAndDestroy();
  else if (lastly !== 'hang') response.end();
}

/** Resolves when the bytes were handed to the operating system, or when nobody is there to take them. */
async function write(response: ServerResponse, bytes: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(bytes, () => {
      response.off('close', resolve);
      resolve();
    });
  });
}
