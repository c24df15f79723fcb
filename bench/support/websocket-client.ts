import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type HttpAnswer, wholeAnswer } from './http-connection.ts';
import { openSocket } from './open-socket.ts';

/** Receives a text message as a range of the read buffer, which is valid until the call returns. */
export type OnFrame = (bytes: Buffer, start: number, end: number) => void;

const FINAL = 0x80;
const CONTINUATION = 0;
const TEXT = 1;
const PING = 9;
const CLOSE = 8;
const PONG_FRAME = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** The server answered the handshake with a status other than 101. */
export class HandshakeRefused extends Error {
  readonly status: number;
  readonly body: string;

  constructor({ status, head, body }: HttpAnswer) {
    super(`the handshake was refused: ${head.split('\r\n')[0]} ${body.slice(0, 300)}`);
    this.status = status;
    this.body = body;
  }
}

type Headers = Readonly<Record<string, string>>;

export interface HandshakeOptions {
  /** Its abort gives up the handshake. */
  readonly late?: AbortSignal;
  /** Besides those of every handshake. */
  readonly headers?: Headers;
}

/** A minimal WebSocket client that neither copies nor decodes, so that a frame costs it far less than the server. */
export class WebSocketClient {
  onFrame: OnFrame = () => undefined;
  onClose: () => void = () => undefined;
  readonly #socket: Socket;
  /** The buffers of an incomplete frame, their size, and the least size of the frame. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #neededBytes = 0;
  /** The fragments of an incomplete message. */
  #pieces: Buffer[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Rejects with `HandshakeRefused` when the server refuses.
   * @param base Such as `http://127.0.0.1:3001`.
   */
  static async open(
    base: URL,
    path: string,
    { late, headers = {} }: HandshakeOptions = {},
  ): Promise<WebSocketClient> {
    const socket = openSocket(base);
    const client = new WebSocketClient(socket);
    const giveUp = (): void => void socket.destroy();
    late?.addEventListener('abort', giveUp);
    await client
      .#shakeHands(base, { path, headers })
      .finally(() => late?.removeEventListener('abort', giveUp));
    return client;
  }

  /** Masks with zeros, which leaves the text unchanged. */
  send(text: string): void {
    const payload = Buffer.from(text);
    const head = Buffer.alloc(payload.length < 126 ? 6 : 8);
    head[0] = 0x81;
    if (payload.length < 126) head[1] = 0x80 | payload.length;
    else {
      if (payload.length > 0xffff) throw new Error('a frame of more than 64 KB is not sent');
      head[1] = 0x80 | 126;
      head.writeUInt16BE(payload.length, 2);
    }
    this.#socket.write(Buffer.concat([head, payload]));
  }

  /** Stops reading, without closing the connection. */
  stall(): void {
    this.#socket.pause();
  }

  /** Ends the connection without a closing handshake, as a broken network does. */
  drop(): void {
    this.onClose = () => undefined;
    this.onFrame = () => undefined;
    this.#socket.destroy();
  }

  #shakeHands(
    base: URL,
    { path, headers }: { readonly path: string; readonly headers: Headers },
  ): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      let head = Buffer.alloc(0);
      const fail = (error: Error): void => reject(error);
      const onClose = (): void => reject(new Error('the connection was closed during the handshake'));
      const onData = (bytes: Buffer): void => {
        head = Buffer.concat([head, bytes]);
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (!head.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) {
          const answer = wholeAnswer(head.toString('latin1'));
          if (!answer) return;
          reject(new HandshakeRefused(answer));
          socket.destroy();
          return;
        }
        socket.off('data', onData).off('error', fail).off('close', onClose);
        // `close` follows every error, and reports it.
        socket.on('error', () => undefined);
        socket.on('close', () => this.onClose());
        socket.on('data', (read) => this.#read(read));
        resolve();
        const rest = head.subarray(end + 4);
        // Later, so that the caller can set its callbacks first.
        if (rest.length > 0) setImmediate(() => this.#read(rest));
      };
      socket.on('data', onData).on('error', fail).on('close', onClose);
      const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `GET ${path} HTTP/1.1\r\n${more.join('')}Host: ${base.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
      );
    });
  }

  #read(bytes: Buffer): void {
    let whole = bytes;
    if (this.#keptBytes > 0) {
      this.#keep(bytes);
      if (this.#keptBytes < this.#neededBytes) return;
      whole = Buffer.concat(this.#kept);
      this.#kept = [];
      this.#keptBytes = 0;
    }
    let at = 0;
    for (;;) {
      const end = frameEnd(whole, at);
      if (end === null || end.end > whole.length) {
        if (at < whole.length) {
          this.#keep(at === 0 ? whole : whole.subarray(at));
          this.#neededBytes = end === null ? this.#keptBytes + 1 : end.end - at;
        }
        return;
      }
      this.#take(whole, at, end.start, end.end);
      at = end.end;
    }
  }

  #keep(bytes: Buffer): void {
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
  }

  #take(bytes: Buffer, head: number, start: number, end: number): void {
    const first = bytes[head] ?? 0;
    const opcode = first & 0x0f;
    if (first === (FINAL | TEXT)) this.onFrame(bytes, start, end);
    else if (opcode === TEXT || opcode === CONTINUATION)
      this.#takePiece(bytes.subarray(start, end), (first & FINAL) !== 0);
    else if (opcode === PING) this.#socket.write(PONG_FRAME);
    else if (opcode === CLOSE) this.#socket.end();
  }

  #takePiece(piece: Buffer, isLast: boolean): void {
    this.#pieces.push(piece);
    if (!isLast) return;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.onFrame(whole, 0, whole.length);
  }
}

/** Where the payload of the frame at `at` begins and ends; null when the head of the frame is incomplete. */
function frameEnd(bytes: Buffer, at: number): { start: number; end: number } | null {
  if (bytes.length < at + 2) return null;
  const length = (bytes[at + 1] ?? 0) & 0x7f;
  if (length < 126) return { start: at + 2, end: at + 2 + length };
  if (length === 126) {
    return bytes.length < at + 4 ? null : { start: at + 4, end: at + 4 + bytes.readUInt16BE(at + 2) };
  }
  return bytes.length < at + 10
    ? null
    : { start: at + 10, end: at + 10 + Number(bytes.readBigUInt64BE(at + 2)) };
}
