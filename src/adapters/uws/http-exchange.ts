import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { Owner } from '../../core/access/session-names.ts';
import type { HttpRequest, HttpResponse } from '../../ports/web-server.ts';
import { nextLoop } from '../../timing/next-loop.ts';
import { addressOf } from './address-text.ts';
import type { BodyBudget } from './body-budget.ts';
import { type BodyDeps, IncomingBody } from './incoming-body.ts';
import { statusLine } from './status-line.ts';

/** Forbids browsers to guess a type other than the Content-Type. */
const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;
/** One byte more than uWebSockets.js buffers. A longer answer is sent at once, and its connection closed at once. */
const UNBUFFERED_BYTES = 16 * 1024 + 1;
/** An empty comment of an event stream, which clients ignore. */
const COMMENT = ':\n\n';

/** Null: none, or one of an answer to a `HEAD` whose length nobody knows. */
type Body = string | Uint8Array | null;

/** Copies a request, because uWebSockets.js frees it when the handler returns. */
export function copyRequest(res: UwsResponse, req: UwsRequest): Omit<HttpRequest, 'body'> {
  const headers = new Map<string, string>();
  req.forEach((name, value) => {
    const known = headers.get(name);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    // Undefined without a question mark, whatever its type says.
    query: req.getQuery() || '',
    headers,
    peerAddress: addressOf(res),
  };
}

/** Whether the connection is closed already. uWebSockets.js still parses requests that it had read before. */
export function isClosed({ peerAddress }: Omit<HttpRequest, 'body'>): boolean {
  return peerAddress === '';
}

/** One HTTP exchange on uWebSockets.js: reads the body and writes the response. It never uses `res` after its end. */
export class HttpExchange {
  readonly #res: UwsResponse;
  readonly #isHead: boolean;
  /** Whether to close the connection after this request. A proxy may disagree about where the request ends. */
  readonly #isLast: boolean;
  /** True while uWebSockets.js parses data that it has read. It buffers answers until it has parsed all of it. */
  #isReading = false;
  #body: IncomingBody | null = null;
  #over = false;
  #hasLeft = false;
  /** Null while there are none: most requests are answered at once. */
  #leaveListeners: Set<() => void> | null = null;
  /** Null while the response holds nothing, as most do. */
  #releaseHeld: (() => void) | null = null;
  #onAbort: () => void = () => undefined;
  #onDrained: () => void = () => undefined;
  #onStop: () => void = () => undefined;
  /** Null while no stream is sent. */
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;

  /** Call it before the handler returns. */
  constructor(res: UwsResponse, method: string, { isLast = false } = {}) {
    this.#res = res;
    this.#isHead = method === 'HEAD';
    this.#isLast = isLast;
    if (isLast) this.#noteReading();
    res.onAborted(() => {
      this.#over = true;
      this.#hasLeft = true;
      this.#body?.abandon();
      this.#onAbort();
      for (const listener of this.#leaveListeners ?? []) listener();
    });
  }

  /** Starts to read the body. Call it before the handler returns, or uWebSockets.js discards the body. */
  readBody(declaredBytes: number, deps: BodyDeps): HttpRequest['body'] {
    const body = new IncomingBody(this.#res, declaredBytes, deps);
    this.#body = body;
    const note = (): void => this.#noteReading();
    if (this.#isLast) body.whole.then(note, note);
    return (client) => (client ? body.of(client) : body.whole);
  }

  /** @param listener called when the client goes away before the answer begins, or has. @returns a function that unsubscribes. */
  onLeft(listener: () => void): () => void {
    this.#leaveListeners ??= new Set();
    this.#leaveListeners.add(listener);
    if (this.#hasLeft) listener();
    return () => void this.#leaveListeners?.delete(listener);
  }

  /** Reserves what the response keeps in memory. Call it once. Throws the refusal. */
  hold(bytes: number, client: Owner | null, budget: BodyBudget): void {
    const refusal = budget.reserve(bytes, { client, taken: 0 });
    if (refusal) throw refusal;
    this.#releaseHeld = () => budget.release(bytes, client);
  }

  /** Call it when the response is over. */
  releaseMemory(): void {
    this.#body?.release();
    this.#releaseHeld?.();
    this.#releaseHeld = null;
  }

  async respond(response: HttpResponse): Promise<void> {
    if (this.#body && !this.#body.complete && !this.#over) await this.#body.discardRest();
    if (this.#isReading && !this.#over && !this.#canBePadded(response)) await nextLoop();
    if (this.#over) {
      if (response.body instanceof ReadableStream) await response.body.cancel('the client went away');
      return;
    }
    if (response.body instanceof ReadableStream && !this.#isHead) await this.#stream(response, response.body);
    else if (response.body instanceof ReadableStream) {
      await response.body.cancel('the request method is HEAD');
      this.#write(response, null);
    } else this.#write(response, response.body);
  }

  /** Ends a streamed response before it is over, in the way that the response says. Does nothing for others. */
  endStream(): void {
    this.#onStop();
  }

  #write(response: HttpResponse, body: Body): void {
    this.#over = true;
    const isBodyRead = this.#body?.complete ?? true;
    if (this.#isLast && isBodyRead) {
      this.#writeAndClose(response, body);
      return;
    }
    // Closing now would lose the answer. A paused connection is closed by uWebSockets.js after ten seconds.
    if (!isBodyRead) this.#res.pause();
    this.#res.cork(() => {
      this.#writeHead(response);
      if (!isBodyRead) this.#res.writeHeader('Connection', 'close');
      if (this.#isHead) this.#endHead(body);
      else if (hasNoBody(response)) this.#res.endWithoutBody();
      else this.#res.end(body ?? '');
    });
  }

  /**
   * Closes the connection after the answer. While uWebSockets.js parses, it would only set a flag, which the next
   * request resets. So the answer is padded until it is too long to be buffered: then the connection closes at once.
   */
  #writeAndClose(response: HttpResponse, body: Body): void {
    this.#res.pause();
    this.#res.cork(() => {
      this.#writeHead(response);
      if (this.#isHead) this.#res.endWithoutBody(body === null ? undefined : Buffer.byteLength(body), true);
      else if (hasNoBody(response)) this.#res.endWithoutBody(undefined, true);
      else this.#res.end(this.#isReading ? `${body}${' '.repeat(UNBUFFERED_BYTES)}` : (body ?? ''), true);
    });
  }

  /**
   * Ends the answer to a `HEAD`, with the length that the answer to a `GET` has, if it is known. The length is written here:
   * uWebSockets.js waits for the body of a length that it is told, and closes the connection with the next request.
   */
  #endHead(body: Body): void {
    if (body !== null) this.#res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
    this.#res.endWithoutBody();
  }

  /** JSON may end with spaces. */
  #canBePadded({ headers, body }: HttpResponse): boolean {
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
    this.#reader = reader;
    this.#leaveListeners = null;
    this.#onAbort = () => this.#endReading('the client went away');
    const isOfEvents = response.stream !== 'bytes';
    const endHere = isOfEvents ? () => this.#endReading('the service is stopping') : () => this.#breakOff();
    this.#onStop = response.onStop ?? endHere;
    if (isOfEvents) this.#flushWhenWritable();
    else this.#noteWritable();
    this.#res.cork(() => {
      this.#writeHead(response);
      if (this.#isLast) this.#res.writeHeader('Connection', 'close');
      // uWebSockets.js sends the head with the first bytes, and the first event may come late.
      if (isOfEvents) this.#res.write(COMMENT);
    });
    try {
      await this.#copy(reader, isOfEvents);
    } catch (error) {
      // Closed without an end, so that the client can tell that the stream is incomplete.
      if (!this.#over) this.#res.close();
      throw error;
    }
    if (this.#over) return;
    this.#over = true;
    // To close at once, uWebSockets.js would write one more header, into the stream. A paused connection is closed later.
    if (this.#isLast) this.#res.pause();
    this.#res.cork(() => this.#res.end());
  }

  async #copy(reader: ReadableStreamDefaultReader<Uint8Array>, isOfEvents: boolean): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#over) return;
      if (!this.#writeChunk(value)) await this.#drained();
      // Otherwise a source that has everything, and a client that reads fast, would hold up all others.
      else if (!isOfEvents) await nextLoop();
    }
  }

  /** Without the end that HTTP gives a complete answer. */
  #breakOff(): void {
    if (!this.#over) this.#res.close();
  }

  #endReading(reason: string): void {
    // `#copy` reports the error of a stream that has failed.
    this.#reader?.cancel(reason).catch(() => undefined);
    this.#onDrained();
  }

  /** @returns false if uWebSockets.js has buffered a part, because the client does not read fast enough. */
  #writeChunk(chunk: Uint8Array | string): boolean {
    let taken = true;
    this.#res.cork(() => {
      taken = this.#res.write(chunk);
    });
    return taken;
  }

  /**
   * With a listener, uWebSockets.js sends its buffer only along with a new write, here a comment. Registered once: it
   * drops a listener that is registered while it calls the previous one.
   */
  #flushWhenWritable(): void {
    this.#res.onWritable(() => {
      if (this.#writeChunk(COMMENT)) this.#onDrained();
      return true;
    });
  }

  /** The next chunk, or the end, sends the buffer along. */
  #noteWritable(): void {
    this.#res.onWritable(() => {
      this.#onDrained();
      return true;
    });
  }

  /** Resolves when the client has read, or has gone. */
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

/** An answer that says no length: a 304 may have no other than the 200 has. */
function hasNoBody({ status }: HttpResponse): boolean {
  return status === 204 || status === 304;
}
