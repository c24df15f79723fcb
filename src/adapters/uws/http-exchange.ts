import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import type { HttpRequest, HttpResponse } from '../../gateway/http-message.ts';
import { addressOf } from './address-text.ts';
import { IncomingBody } from './incoming-body.ts';
import { statusLine } from './status-line.ts';

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

/** One HTTP exchange on uWebSockets.js: gathers the body, writes the response, and never touches `res` after its end. */
export class HttpExchange {
  readonly #res: UwsResponse;
  readonly #isHead: boolean;
  #body: IncomingBody | null = null;
  #over = false;
  #onAbort: () => void = () => undefined;

  /** To be made before the handler returns. */
  constructor(res: UwsResponse, method: string) {
    this.#res = res;
    this.#isHead = method === 'HEAD';
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
    return () => body.whole;
  }

  async respond(response: HttpResponse): Promise<void> {
    if (this.#body && !this.#body.complete && !this.#over) await this.#body.discardRest();
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

  async #stream(response: HttpResponse, stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader();
    this.#onAbort = () => void reader.cancel('the client went away');
    this.#res.cork(() => {
      this.#writeHead(response);
      // The head goes out with the first bytes, and an event stream may have none for long: this is a comment.
      if (response.headers['content-type']?.startsWith('text/event-stream')) this.#res.write(':\n\n');
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
    this.#res.cork(() => this.#res.end());
  }

  async #copy(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#over) return;
      if (!this.#writeChunk(value)) await this.#drained();
    }
  }

  #writeChunk(chunk: Uint8Array): boolean {
    let taken = true;
    this.#res.cork(() => {
      taken = this.#res.write(chunk);
    });
    return taken;
  }

  /** Resolves when the client has read what was written, or has gone. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#onAbort;
      this.#onAbort = () => {
        cancel();
        resolve();
      };
      this.#res.onWritable(() => {
        this.#onAbort = cancel;
        resolve();
        return true;
      });
    });
  }

  #writeHead({ status, headers }: HttpResponse): void {
    this.#res.writeStatus(statusLine(status));
    for (const [name, value] of Object.entries(headers)) this.#res.writeHeader(name, value);
  }
}
