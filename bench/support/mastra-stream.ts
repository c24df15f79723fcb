import { once } from 'node:events';
import type { Socket } from 'node:net';
import { localUrl } from './http-load.ts';
import { openSocket } from './open-socket.ts';
import type { Protocol, StreamSocket } from './protocol.ts';
import type { OnFrame } from './websocket-client.ts';

const AGENT = '/api/agents/bench';
const CHUNK = Buffer.from('{"event":"chunk"}');
const DELTA = 'data: {"type":"text-delta"';
const FAILURE = 'data: {"type":"error"';
const TEXT = '"text":"';
const END_OF_TEXT = '"}}';

/** Mastra's own routes. Without a memory there are no sessions. */
export const mastraProtocol: Protocol = {
  messageTo: () => ({ path: `${AGENT}/generate`, body: bodyOf('hello') }),
  openStreams: (port, count) => Promise.all(Array.from({ length: count }, () => MastraStream.open(port))),
};

/**
 * A connection to Mastra's route for streamed replies, for one reply at a time. It passes on each event with text as a
 * chunk frame, and the end of the answer as the response frame with all texts, so that the benches can treat it as a
 * socket of the service. Events are searched and not parsed, so that they cost the server more than the load generator.
 */
export class MastraStream implements StreamSocket {
  onFrame: OnFrame = () => undefined;
  onClose: () => void = () => undefined;
  readonly #socket: Socket;
  readonly #host: string;
  #received = '';
  /** Where the next HTTP chunk begins in what was received; -1 until the head is complete. */
  #at = -1;
  /** The incomplete event at the end of the last HTTP chunk. */
  #event = '';
  #content = '';

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#read(text));
    // `close` follows every error, and reports it.
    socket.on('error', () => undefined);
    socket.on('close', () => this.onClose());
  }

  static async open(port: number): Promise<MastraStream> {
    const base = localUrl(port);
    const socket = openSocket(base);
    await once(socket, 'connect');
    return new MastraStream(socket, base.host);
  }

  /** @param text A message as a socket of the service takes it. */
  send(text: string): void {
    const body = bodyOf(JSON.parse(text).content);
    this.#socket.write(
      `POST ${AGENT}/stream HTTP/1.1\r\nHost: ${this.#host}\r\nContent-Type: application/json\r\n` +
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
      if (events.startsWith(DELTA, from)) this.#take(events.slice(from, end));
      else if (events.startsWith(FAILURE, from)) this.#fail(events.slice(from, end));
      from = end + 2;
    }
    this.#event = events.slice(from);
  }

  #take(event: string): void {
    this.#content += event.slice(event.lastIndexOf(TEXT) + TEXT.length, event.lastIndexOf(END_OF_TEXT));
    this.onFrame(CHUNK, 0, CHUNK.length);
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

function bodyOf(content: string): string {
  return JSON.stringify({ messages: [{ role: 'user', content }] });
}
