import type { Socket } from 'node:net';
import { openSocket } from './open-socket.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface HttpRequestDeps {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A keep-alive connection for one request at a time. It does little work, so that the server is measured. */
export class HttpConnection {
  readonly #base: URL;
  readonly #socket: Socket;
  #received = '';
  #waiting: PromiseWithResolvers<HttpAnswer> | null = null;
  #broken: Error | null = null;

  constructor(base: URL) {
    this.#base = base;
    this.#socket = openSocket(base);
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error) => this.#break(error));
    this.#socket.on('close', () => this.#break(new Error('the server closed the connection')));
  }

  request({ method = 'POST', path, headers = {}, body = '' }: HttpRequestDeps): Promise<HttpAnswer> {
    if (this.#broken) return Promise.reject(this.#broken);
    this.#waiting = Promise.withResolvers();
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const type = body === '' ? '' : 'Content-Type: application/json\r\n';
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: ${this.#base.host}\r\n${type}${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return this.#waiting.promise;
  }

  close(): void {
    this.#broken = new Error('the connection is closed');
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const answer = wholeAnswer(this.#received);
    if (!answer || !this.#waiting) return;
    this.#received = '';
    const { resolve } = this.#waiting;
    this.#waiting = null;
    resolve(answer);
  }

  #break(error: Error): void {
    this.#broken ??= error;
    this.#waiting?.reject(this.#broken);
    this.#waiting = null;
  }
}

/** The answer, or null until it is complete. `received` has one character per byte; the body is decoded as UTF-8. */
export function wholeAnswer(received: string): HttpAnswer | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = received.slice(0, end + 2);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined && status !== 202 && status !== 204) {
    if (!received.endsWith('\r\n0\r\n\r\n')) return null;
    return { status, head, body: utf8(dechunked(received.slice(end + 4))) };
  }
  if (received.length < end + 4 + Number(length ?? 0)) return null;
  return { status, head, body: utf8(received.slice(end + 4)) };
}

function dechunked(body: string): string {
  let text = '';
  for (let at = 0; ; ) {
    const line = body.indexOf('\r\n', at);
    const length = Number.parseInt(body.slice(at, line), 16);
    if (!(length > 0)) return text;
    text += body.slice(line + 2, line + 2 + length);
    at = line + 4 + length;
  }
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
