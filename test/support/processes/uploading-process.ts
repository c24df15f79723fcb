/*
 * Uploads a body of so many bytes, so many times, and prints what came of each attempt, as JSON. In a process
 * of its own, because only then do client and service race for the connection as they do in life.
 *
 *   uploading-process.ts URL CLIENT BYTES TIMES
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

type Answer = { status: number; text: string };

const [target = '', client = '', size = '0', times = '1'] = process.argv.slice(2);
const url = new URL(target);
const bytes = Number(size);
const headers = { 'Content-Type': 'application/json' };
const PIECE_BYTES = 64 * 1024;

/** A valid message, and spaces up to the size. */
function* pieces(): Generator<Buffer> {
  const first = Buffer.alloc(Math.min(bytes, PIECE_BYTES), ' ');
  first.write('{"message":"hello"}');
  for (let sent = 0; sent < bytes; sent += PIECE_BYTES) {
    yield sent === 0 ? first : Buffer.alloc(Math.min(bytes - sent, PIECE_BYTES), ' ');
  }
}

const whole = (): Buffer => Buffer.concat([...pieces()]);

async function byFetch(init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', headers, ...init });
  return { status: response.status, text: await response.text() };
}

async function byNodeHttp(chunked: boolean, agent?: false): Promise<Answer> {
  const req = request(url, { method: 'POST', agent, headers });
  const answered = once(req, 'response');
  // Once the answer is here, what becomes of the rest of the upload does not matter.
  const sent = chunked ? pipeline(Readable.from(pieces()), req) : Promise.resolve(req.end(whole()));
  sent.catch(() => undefined);
  const [response] = await answered;
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return { status: response.statusCode, text };
}

/** Reads nothing before everything is sent, as clients of blocking languages do. */
async function byBlockingClient(): Promise<Answer> {
  const socket = connect(Number(url.port), url.hostname);
  socket.pause();
  const head = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\nContent-Type: application/json\r\n`;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(`${head}Content-Length: ${bytes}\r\n\r\n`);
    socket.write(whole(), () => resolve());
  });
  let received = '';
  for await (const piece of socket.setEncoding('utf8')) received += piece;
  const [, status, text = ''] = /^HTTP\/1\.1 (\d+) .*?\r\n\r\n(.*)$/s.exec(received) ?? [];
  return { status: Number(status), text };
}

const clients: Record<string, () => Promise<Answer>> = {
  fetch: () => byFetch({ body: whole() }),
  'fetch-chunked': () => {
    const chunked = { body: Readable.toWeb(Readable.from(pieces())), duplex: 'half' };
    return byFetch(chunked as unknown as RequestInit);
  },
  http: () => byNodeHttp(false),
  'http-chunked': () => byNodeHttp(true),
  'http-close': () => byNodeHttp(false, false),
  blocking: byBlockingClient,
};

const upload = clients[client];
if (!upload) throw new Error(`there is no client ${client}`);
const outcomes: (Answer | { failed: string })[] = [];
for (let attempt = 0; attempt < Number(times); attempt += 1) {
  outcomes.push(await upload().catch((error: unknown) => ({ failed: String(error) })));
}
process.stdout.write(`${JSON.stringify(outcomes)}\n`, () => process.exit(0));
