import type { StreamSocket } from '../../../src/client/session-client.ts';

/** The service's end of one connection of a client. */
export class FakeStreamSocket implements StreamSocket {
  readonly url: URL;
  readonly sent: unknown[] = [];
  isClosed = false;
  readonly #onMessage: ((event: { readonly data: unknown }) => void)[] = [];
  readonly #onClose: (() => void)[] = [];
  readonly #onError: (() => void)[] = [];

  constructor(url: string) {
    this.url = new URL(url);
  }

  addEventListener(
    type: 'message' | 'close' | 'error',
    listener: (event: { readonly data: unknown }) => void,
  ): void {
    if (type === 'message') this.#onMessage.push(listener);
    else if (type === 'error') this.#onError.push(() => listener({ data: undefined }));
    else this.#onClose.push(() => listener({ data: undefined }));
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** Frames as objects; a string as it is. */
  say(...frames: (object | string)[]): void {
    for (const frame of frames) {
      const data = typeof frame === 'string' ? frame : JSON.stringify(frame);
      for (const listener of this.#onMessage) listener({ data });
    }
  }

  resumed(head: number, after = Number(this.url.searchParams.get('after'))): void {
    this.say({ event: 'resumed', data: { after, head } });
  }

  /** The connection cannot be had. */
  fail(): void {
    for (const listener of this.#onError) listener();
  }

  /** The connection breaks, or the handshake is refused. */
  drop(): void {
    for (const listener of this.#onClose) listener();
  }
}

/** Takes the connections of a client, and says over HTTP what a handshake would be answered. */
export class FakeStreamService {
  readonly sockets: FakeStreamSocket[] = [];
  /** The addresses that were asked for over HTTP. */
  readonly asked: string[] = [];
  /** The answer over HTTP; null when nothing answers. */
  answer: { readonly status: number; readonly body: string; readonly retryAfter?: string } | null = null;

  /** The Authorization headers of the requests for a ticket. */
  readonly bearers: (string | null)[] = [];
  /** The answers to the next requests for a ticket. Later ones get the tickets t1, t2 … */
  readonly ticketAnswers: Response[] = [];
  #tickets = 0;

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    if (url.endsWith('/api/tickets')) return this.#ticket(new Headers(init.headers));
    this.asked.push(url);
    if (this.answer === null) throw new TypeError('fetch failed');
    const { status, body, retryAfter } = this.answer;
    return new Response(body, {
      status,
      headers: retryAfter === undefined ? {} : { 'Retry-After': retryAfter },
    });
  };

  #ticket(headers: Headers): Response {
    this.bearers.push(headers.get('authorization'));
    const answer = this.ticketAnswers.shift();
    if (answer) return answer;
    this.#tickets += 1;
    return Response.json({ ticket: `t${this.#tickets}` });
  }

  /** Answers over HTTP with an error envelope. */
  refuse(status: number, error: object, retryAfter?: string): void {
    const body = JSON.stringify({ success: false, error });
    this.answer = { status, body, ...(retryAfter !== undefined && { retryAfter }) };
  }

  readonly openSocket = (url: string): FakeStreamSocket => {
    const socket = new FakeStreamSocket(url);
    this.sockets.push(socket);
    return socket;
  };

  /** The newest connection. */
  get socket(): FakeStreamSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error('nobody has connected');
    return socket;
  }
}
