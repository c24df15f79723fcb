import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/**
 * Of a name in the answers of a DNS server (RFC 1035): `silent` answers nothing, `none` that there is no such name, and `half`
 * the same for IPv4 only, and nothing for IPv6.
 */
export type NameAnswer = string | 'silent' | 'none' | 'half';

const NO_SUCH_NAME = 3;
const TYPE_A = 1;

/** A DNS server on 127.0.0.1 that knows IPv4 addresses only. */
export class NameServer implements AsyncDisposable {
  /** The names that were asked for, each once for IPv4 and once for IPv6. */
  readonly asked: string[] = [];
  readonly #socket: Socket;

  static async start(answers: Readonly<Record<string, NameAnswer>>): Promise<NameServer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket, answers);
  }

  private constructor(socket: Socket, answers: Readonly<Record<string, NameAnswer>>) {
    this.#socket = socket;
    socket.on('message', (query, { port, address }) => {
      const { name, type, end } = questionOf(query);
      this.asked.push(name);
      const answer = answers[name] ?? 'none';
      const isSilent = answer === 'silent' || (answer === 'half' && type !== TYPE_A);
      if (!isSilent) socket.send(response(query.subarray(0, end), type, answer), port, address);
    });
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

/** The header has 12 bytes. The question follows: the labels of the name, each after its length, its type and class. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function response(query: Buffer, type: number, answer: string): Buffer {
  const head = Buffer.from(query);
  const isUnknown = answer === 'none' || answer === 'half';
  const hasAddress = !isUnknown && type === TYPE_A;
  head.writeUInt16BE(0x8180 | (isUnknown ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(hasAddress ? 1 : 0, 6);
  // No authority and no additional records, whatever the query had.
  head.writeUInt32BE(0, 8);
  if (!hasAddress) return head;
  const record = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...answer.split('.').map(Number)]);
  return Buffer.concat([head, record]);
}
