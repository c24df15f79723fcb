import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import { addressOf } from './address-text.ts';
import { IncomingBody } from './incoming-body.ts';
import { statusLine } from './status-line.ts';

/** No browser guesses what an answer is: it is what its Content-Type says. */
const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;
/** More than uWebSockets.js holds back: such an answer goes out at once, and its connection is closed at once. */
const UNHELD_BYTES = 16 * 1024 + 1;
/** Of an event stream, the only kind of stream there is: its readers skip it. */
const COMMENT = ':\n\n';

/** What is copied of a request at once, because uWebSockets.js frees it when the handler returns. */
export function copyRequest(res: UwsResponse, req: UwsRequest): Omit<HttpRequest, 'body'> {
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    query: req.getQuery(),
    headers,
    peerAddress: addressOf(res),
  };
}

/** What was read behind the last request of a connection that is closed: uWebSockets.js parses it all the same. */
export function isClosed({ peerAddress }: Omit<HttpRequest, 'body'>): boolean {
  return peerAddress === '';
}

/** One HTTP exchange on uWebSockets.js: gathers the body, writes the response, and never touches `res` after its end. */
export class HttpExchange {
  readonly #res: UwsResponse;
  readonly #isHead: boolean;
  /** Nothing more is read from the connection: where this request ends, others may see another end. */
  readonly #isLast: boolean;
  /** uWebSockets.js is in the middle of what it has read: it holds answers back, and parses what follows next. */
  #isReading = false;
  #body: IncomingBody | null = null;
  #over = false;
  #onAbort: () => void = () => undefined;
  #onDrained: () => void = () => undefined;

  /** To be made before the handler returns. */
  constructor(res: UwsResponse, method: string, { isLast = false } = {}) {
    this.#res = res;
    this.#isHead = method === 'HEAD';
    this.#isLast = isLast;
    if (isLast) this.#noteReading();
    res.onAborted(() => {
      this.#over = true;
      this.#body?.abandon();
      this.#onAbort();
    });
  }

  /** Starts to gather the body, before the handler returns: what is not gathered then is lost. */
  readBody(declaredBytes: number, maxBytes: number | false): () => Promise<Uint8Array> {
    const body = new IncomingBody(this.#res, declaredBytes, maxBytes);
    this.#body = body;
    const note = (): void => this.#noteReading();
    if (this.#isLast) body.whole.then(note, note);
    return () => body.whole;
  }

  async respond(response: HttpResponse): Promise<void> {
    if (this.#body && !this.#body.complete && !this.#over) await this.#body.discardRest();
    if (this.#isReading && !this.#over && !this.#isPaddable(response)) await nextLoop();
    if (this.#over) {
      if (response.body instanceof ReadableStream) await response.body.cancel('the client went away');
      return;
    }
    if (response.body instanceof ReadableStream && !this.#isHead) await this.#stream(response, response.body);
    else if (response.body instanceof ReadableStream) {
      await response.body.cancel('only the head is wanted');
      this.#write(response, '');
    } else this.#write(response, response.body ?? '');
  }

  #write(response: HttpResponse, body: string | Uint8Array): void {
    this.#over = true;
    const isReadToTheEnd = this.#body?.complete ?? true;
    if (this.#isLast && isReadToTheEnd) {
      this.#writeAndClose(response, body);
      return;
    }
    // Not read any further, and closed by uWebSockets.js after ten seconds: closed now, the answer would be lost.
    if (!isReadToTheEnd) this.#res.pause();
    this.#res.cork(() => {
      this.#writeHead(response);
      if (!isReadToTheEnd) this.#res.writeHeader('Connection', 'close');
      if (this.#isHead) this.#res.endWithoutBody(Buffer.byteLength(body));
      else if (response.status === 204) this.#res.endWithoutBody();
      else this.#res.end(body);
    });
  }

  /**
   * Ends the connection with the answer. While uWebSockets.js reads, it would only note that, and forget it over
   * the next request: an answer that it does not hold back closes at once.
   */
  #writeAndClose(response: HttpResponse, body: string | Uint8Array): void {
    this.#res.pause();
    this.#res.cork(() => {
      this.#writeHead(response);
      if (this.#isHead) this.#res.endWithoutBody(Buffer.byteLength(body), true);
      else if (response.status === 204) this.#res.endWithoutBody(undefined, true);
      else this.#res.end(this.#isReading ? `${body}${' '.repeat(UNHELD_BYTES)}` : body, true);
    });
  }

  /** Spaces behind JSON mean nothing. */
  #isPaddable({ headers, body }: HttpResponse): boolean {
    return !this.#isHead && typeof body === 'string' && headers['Content-Type'] === 'application/json';
  }

  #noteReading(): void {
    this.#isReading = true;
    setImmediate(() => {
      this.#isReading = false;
    });
  }

  async #stream(response: HttpResponse, stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader();
    this.#onAbort = () => {
      void reader.cancel('the client went away');
      this.#onDrained();
    };
    this.#sendWhatIsKept();
    this.#res.cork(() => {
      this.#writeHead(response);
      if (this.#isLast) this.#res.writeHeader('Connection', 'close');
      // The head goes out with the first bytes, and there may be none for long.
      this.#res.write(COMMENT);
    });
    try {
      await this.#copy(reader);
    } catch (error) {
      // Cut short, so that the client does not take it for whole.
      if (!this.#over) this.#res.close();
      throw error;
    }
    if (this.#over) return;
    this.#over = true;
    this.#res.cork(() => this.#res.end(undefined, this.#isLast));
  }

  async #copy(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#over) return;
      if (!this.#writeChunk(value)) await this.#drained();
    }
  }

  /** @returns whether the client has taken it, and all before it. */
  #writeChunk(chunk: Uint8Array | string): boolean {
    let taken = true;
    this.#res.cork(() => {
      taken = this.#res.write(chunk);
    });
    return taken;
  }

  /**
   * Once somebody listens here, uWebSockets.js no longer sends by itself what it keeps, but only along with something
   * new. Listened to once: it forgets a listener that is registered while it calls the one before.
   */
  #sendWhatIsKept(): void {
    this.#res.onWritable(() => {
      if (this.#writeChunk(COMMENT)) this.#onDrained();
      return true;
    });
  }

  /** Resolves when the client has taken what was written, or has gone. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  #writeHead({ status, headers }: HttpResponse): void {
    this.#res.writeStatus(statusLine(status)).writeHeader(...NO_SNIFFING);
    for (const [name, value] of Object.entries(headers)) this.#res.writeHeader(name, value);
  }
}
