import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { StreamResponse } from '../../../src/gateway/a2a/a2a-objects.ts';

/** A notification as its receiver got it. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly told: StreamResponse;
  readonly method: string;
  readonly path: string;
}

/** What the receiver answers: a status, and perhaps headers. */
export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** A web server that takes push notifications. The test says what it answers; 200 by default. */
export class PushReceiver implements AsyncDisposable {
  readonly port: number;
  readonly received: Received[] = [];
  /** Answers to the next notifications. */
  readonly answers: Answer[] = [];
  /** Whether notifications stay without an answer. */
  isSilent = false;
  readonly #server: Server;
  #waiting: (() => void)[] = [];

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(port = 0): Promise<PushReceiver> {
    const server = createServer();
    await new Promise<void>((done, fail) => {
      server.once('error', fail);
      server.listen(port, '127.0.0.1', done);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const receiver = new PushReceiver(server, address.port);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      const { headers, method = '', url: path = '' } = request;
      const told = StreamResponse.parse(JSON.parse(body));
      receiver.received.push({ headers, body, told, method, path });
      for (const wake of receiver.#waiting.splice(0)) wake();
      if (receiver.isSilent) return;
      const answer = receiver.answers.shift() ?? { status: 200 };
      response.writeHead(answer.status, answer.headers).end('the answer is not read');
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Resolves when a notification has come that fits. */
  async until(fits: (received: Received) => boolean): Promise<Received> {
    for (;;) {
      const found = this.received.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when the receiver was told that the task has ended. */
  async end(): Promise<Received[]> {
    await this.until(({ told }) => ENDED.has(stateIn(told) ?? ''));
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const ENDED: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
]);

/** The state that a notification tells of. */
export function stateIn(told: StreamResponse): string | undefined {
  if ('task' in told) return told.task.status.state;
  return 'statusUpdate' in told ? told.statusUpdate.status.state : undefined;
}

/** What a notification tells, in a word: the state of the task, or a piece of the reply. */
export function saidIn(told: StreamResponse): string {
  if ('artifactUpdate' in told) return `reply: ${told.artifactUpdate.artifact.parts[0]?.text}`;
  return stateIn(told) ?? '';
}
