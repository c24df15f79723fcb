import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const CONTINUATION = 0x0;
const TEXT = 0x1;
const CLOSE = 0x8;
const END_OF_HEAD = '\r\n\r\n';

/** What the server had sent by the time the connection ended. */
export interface WholeStream {
  readonly bytes: number;
  readonly texts: string[];
  /** Undefined when the connection ended without a close frame. */
  readonly close: { readonly code: number; readonly reason: string } | undefined;
}

/**
 * A WebSocket client by hand, over plain TCP. It reads nothing after the handshake until it is told to, so
 * that the server has to keep what it sends.
 */
export class RawWebSocket implements Disposable {
  readonly #socket: Socket;
  readonly #early: Buffer;

  private constructor(socket: Socket, early: Buffer) {
    this.#socket = socket;
    this.#early = early;
    // A connection that is reset ends too; what came before counts.
    socket.on('error', () => undefined);
  }

  static async open(port: number, path = '/', headers: Record<string, string> = {}): Promise<RawWebSocket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const key = randomBytes(16).toString('base64');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n${lines.join('')}\r\n`,
    );
    let head = Buffer.alloc(0);
    while (!head.includes(END_OF_HEAD)) {
      const [chunk]: Buffer[] = await once(socket, 'data');
      head = Buffer.concat([head, chunk ?? Buffer.alloc(0)]);
    }
    socket.pause();
    if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`refused: ${head}`);
    return new RawWebSocket(socket, head.subarray(head.indexOf(END_OF_HEAD) + END_OF_HEAD.length));
  }

  /** Sends text frames. Resolves when the operating system has taken them. */
  async send(...texts: string[]): Promise<void> {
    const frames = texts.map((text) => frame(TEXT, Buffer.from(text)));
    await new Promise<void>((resolve) => this.#socket.write(Buffer.concat(frames), () => resolve()));
  }

  /** Reads everything there is, until the connection ends. */
  async readToEnd(): Promise<WholeStream> {
    const chunks = [this.#early];
    this.#socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    this.#socket.resume();
    await once(this.#socket, 'close');
    return parse(Buffer.concat(chunks));
  }

  /** Reads until the text has come, however long that takes. */
  async readUntil(marker: string): Promise<WholeStream> {
    const chunks = [this.#early];
    let tail = '';
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('close', () => reject(new Error(`closed before ${marker}`)));
      this.#socket.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        const text = tail + chunk.toString('latin1');
        if (text.includes(marker)) resolve();
        tail = text.slice(-marker.length);
      });
      this.#socket.resume();
    });
    return parse(Buffer.concat(chunks));
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** A client's frames are masked; a mask of zeros leaves them readable. */
function frame(opcode: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (head.length === 2 ? payload.length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(payload.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, Buffer.alloc(4), payload]);
}

function parse(stream: Buffer): WholeStream {
  const texts: string[] = [];
  let close: WholeStream['close'];
  let at = 0;
  /** Of a message that comes in several frames. */
  let pieces: Buffer[] = [];
  while (at + 2 <= stream.length) {
    const isLast = ((stream[at] ?? 0) & 0x80) !== 0;
    const opcode = (stream[at] ?? 0) & 0x0f;
    const short = (stream[at + 1] ?? 0) & 0x7f;
    const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (at + headBytes > stream.length) break;
    const length =
      short === 126
        ? stream.readUInt16BE(at + 2)
        : short === 127
          ? Number(stream.readBigUInt64BE(at + 2))
          : short;
    const payload = stream.subarray(at + headBytes, at + headBytes + length);
    at += headBytes + length;
    if ((opcode === TEXT || opcode === CONTINUATION) && payload.length === length) {
      pieces.push(payload);
      if (!isLast) continue;
      texts.push(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
    }
    if (opcode === CLOSE) close = { code: payload.readUInt16BE(0), reason: payload.toString('utf8', 2) };
  }
  return { bytes: stream.length, texts, close };
}
