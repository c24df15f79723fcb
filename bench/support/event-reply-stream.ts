import { once } from 'node:events';
import type { Socket } from 'node:net';
import { localUrl } from './http-load.ts';
import { openSocket } from './open-socket.ts';
import type { StreamSocket } from './protocol.ts';
import type { OnFrame } from './websocket-client.ts';

const CHUNK = Buffer.from('{"event":"chunk"}');

/** An interface that answers a request with server-sent events. */
export interface EventReplies {
  readonly path: string;
  /** The body of a request. */
  readonly body: (content: string) => string;
  /** The text of an event, still escaped as in JSON; null for an event without one. */
  readonly textOf: (event: string) => string | null;
  readonly isFailure: (event: string) => boolean;
}

/**
 * A connection for streamed replies over HTTP, for one reply at a time. It passes on each event with text as a
 * chunk frame, and the end of the answer as the response frame with all texts, so that the benches can treat it as a
 * socket of the service. Events are searched and not parsed, so that they cost the server more than the load generator.
 */
export class EventReplyStream implements StreamSocket {
  onFrame: OnFrame = () => undefined;
  onClose: () => void = () => undefined;
  readonly #replies: EventReplies;
  readonly #socket: Socket;
  readonly #host: string;
  #received = '';
  /** Where the next HTTP chunk begins in what was received; -1 until the head is complete. */
  #at = -1;
  /** The incomplete event at the end of the last HTTP chunk. */
  #event = '';
  #content = '';

  private constructor(replies: EventReplies, socket: Socket, host: string) {
    this.#replies = replies;
    this.#socket = socket;
    this.#host = host;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    // `close` follows every error, and reports it.
    socket.on('error', () => undefined);
    socket.on('close', () => this.onClose());
  }

  static async open(replies: EventReplies, port: number): Promise<EventReplyStream> {
    const base = localUrl(port);
    const socket = openSocket(base);
    await once(socket, 'connect');
    return new EventReplyStream(replies, socket, base.host);
  }

  /** @param text A message as a socket of the service takes it. */
  send(text: string): void {
    const { path, body: bodyOf } = this.#replies;
    const body = bodyOf(JSON.parse(text).content);
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }

  drop(): void {
    this.onClose = () => undefined;
    this.onFrame = () => undefined;
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    if (this.#at === -1 && !this.#readHead()) return;
    for (;;) {
      const line = this.#received.indexOf('\r\n', this.#at);
      const size = line === -1 ? Number.NaN : Number.parseInt(this.#received.slice(this.#at, line), 16);
      const end = line + 2 + size;
      // False also without a whole line, because then the end is not a number.
      if (!(end + 2 <= this.#received.length)) break;
      if (size === 0) {
        this.#end();
        return;
      }
      this.#readEvents(this.#received.slice(line + 2, end));
      this.#at = end + 2;
    }
    this.#received = this.#received.slice(this.#at);
    this.#at = 0;
  }

  #readHead(): boolean {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return false;
    if (!/^HTTP\/1.1 200 [\s\S]*\r\ntransfer-encoding: chunked/i.test(this.#received.slice(0, end)))
      this.#fail(this.#received);
    this.#at = end + 4;
    return true;
  }

  #readEvents(text: string): void {
    const events = this.#event + text;
    let from = 0;
    for (let end = events.indexOf('\n\n'); end !== -1; end = events.indexOf('\n\n', from)) {
      this.#readEvent(events.slice(from, end));
      from = end + 2;
    }
    this.#event = events.slice(from);
  }

  #readEvent(event: string): void {
    const text = this.#replies.textOf(event);
    if (text !== null) {
      this.#content += text;
      this.onFrame(CHUNK, 0, CHUNK.length);
    } else if (this.#replies.isFailure(event)) this.#fail(event);
  }

  #end(): void {
    // The texts are still escaped as in JSON, and have one character for each byte.
    const response = Buffer.from(`{"event":"response","data":{"content":"${this.#content}"}}`, 'latin1');
    this.#received = '';
    this.#at = -1;
    this.#event = '';
    this.#content = '';
    this.onFrame(response, 0, response.length);
  }

  #fail(reason: string): void {
    const frame = Buffer.from(JSON.stringify({ event: 'error', data: { message: reason.slice(0, 500) } }));
    this.onFrame(frame, 0, frame.length);
  }
}
