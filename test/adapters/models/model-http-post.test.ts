import { once } from 'node:events';
import http, {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, createGzip, deflateSync, type Gzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type HttpAnswer, post } from '../../../src/model-http/http/http-post.ts';
import { rejection } from '../../support/models/openai-model-harness.ts';

/** A server that answers as it is told, and remembers what it was asked. */
class Listener implements AsyncDisposable {
  readonly asked: { path: string; keys: unknown[]; body: string }[] = [];
  connections = 0;
  readonly #server;

  private constructor(answer: RequestListener) {
    this.#server = createServer((req, res) => void this.#answer(req, res, answer));
    this.#server.on('connection', () => {
      this.connections += 1;
    });
  }

  static async open(answer: RequestListener): Promise<Listener> {
    const listener = new Listener(answer);
    listener.#server.listen(0, '127.0.0.1');
    await once(listener.#server, 'listening');
    return listener;
  }

  url(path = '/'): URL {
    return new URL(path, `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async #answer(req: IncomingMessage, res: ServerResponse, answer: RequestListener): Promise<void> {
    const keys = [req.headers.authorization, req.headers['x-api-key']];
    this.asked.push({ path: `${req.method} ${req.url}`, keys, body: await text(req) });
    answer(req, res);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const message = { headers: { authorization: 'Bearer key', 'x-api-key': 'key' }, body: '{"a":1}' };

function redirect(status: number, location: string): RequestListener {
  return (req, res) => (req.url === '/' ? res.writeHead(status, { location }) : res).end('arrived');
}

const bodyOf = ({ stream }: HttpAnswer): Promise<string> => text(stream);

describe('a POST to a model service', () => {
  it.each([307, 308])('follows a redirect %i with method, body and key', async (status) => {
    await using server = await Listener.open(redirect(status, '/v1/next'));
    expect(await bodyOf(await post(server.url(), message))).toBe('arrived');
    expect(server.asked[1]).toEqual({ path: 'POST /v1/next', keys: ['Bearer key', 'key'], body: '{"a":1}' });
  });

  it('does not show the key to another host than the one that was addressed', async () => {
    await using other = await Listener.open((_req, res) => res.end('arrived elsewhere'));
    await using server = await Listener.open(redirect(307, other.url('/x').href));
    expect(await bodyOf(await post(server.url(), message))).toBe('arrived elsewhere');
    expect(other.asked).toEqual([{ path: 'POST /x', keys: [undefined, undefined], body: '{"a":1}' }]);
  });

  it.each([
    ['301, which asks for a GET', 301, '/next'],
    ['302, which asks for a GET', 302, '/next'],
    ['307 to what is no address', 307, 'http://'],
    ['307 to another protocol', 307, 'file:///etc/hosts'],
  ])('gives a redirect %s as the answer', async (_what, status, location) => {
    await using server = await Listener.open(redirect(status, location));
    expect((await post(server.url(), message)).status).toBe(status);
    expect(server.asked).toHaveLength(1);
  });

  it('does not go round in circles', async () => {
    await using server = await Listener.open(redirect(307, '/'));
    expect((await post(server.url(), message)).status).toBe(307);
    expect(server.asked).toHaveLength(6);
  });

  it('uses a connection again', async () => {
    await using server = await Listener.open((_req, res) => res.end('ok'));
    for (let call = 0; call < 3; call += 1) await bodyOf(await post(server.url(), message));
    expect(server).toMatchObject({ connections: 1, asked: { length: 3 } });
  });

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('unpacks %s, though nobody asked for it', async (encoding, pack) => {
    await using server = await Listener.open((_req, res) =>
      res.writeHead(200, { 'content-encoding': encoding }).end(pack('Grüße')),
    );
    expect(await bodyOf(await post(server.url(), message))).toBe('Grüße');
  });

  it('unpacks what has come, without waiting for the rest', async () => {
    let packer: Gzip | undefined;
    await using server = await Listener.open((_req, res) => {
      packer = createGzip();
      packer.pipe(res.writeHead(200, { 'content-encoding': 'gzip' }));
      packer.write('first');
      packer.flush();
    });
    const { stream } = await post(server.url(), message);
    expect(String((await once(stream, 'data'))[0])).toBe('first');
    packer?.end(' and last');
    expect(await text(stream)).toBe(' and last');
  });

  it('fails where the packed bytes are broken', async () => {
    await using server = await Listener.open((_req, res) =>
      res.writeHead(200, { 'content-encoding': 'gzip' }).end('not packed'),
    );
    const response = await post(server.url(), message);
    expect(await rejection(bodyOf(response))).toMatchObject({ code: 'Z_DATA_ERROR' });
  });

  it('takes a change of the protocol for a connection that broke', async () => {
    await using server = await Listener.open((_req, res) => {
      res.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    expect(await rejection(post(server.url(), message))).toMatchObject({ code: 'ECONNRESET' });
  });

  it('is sent again at once over another connection when the kept one has been closed meanwhile', async () => {
    await using server = await Listener.open((_req, res) => {
      if (server.asked.length % 2 === 0) res.socket?.destroy();
      else res.end('here');
    });
    expect(await bodyOf(await post(server.url(), message))).toBe('here');
    expect(await bodyOf(await post(server.url(), message))).toBe('here');
    expect(server.asked.map(({ body }) => body)).toEqual(Array(3).fill(message.body));
    expect(server.connections).toBe(2);
  });

  it('is not sent again when a new connection is closed without an answer', async () => {
    await using server = await Listener.open((_req, res) => void res.socket?.destroy());
    expect(await rejection(post(server.url(), message))).toMatchObject({ code: 'ECONNRESET' });
    expect(server.asked).toHaveLength(1);
  });

  it('ends with the signal, before the answer and in its middle', async () => {
    const left: Promise<unknown>[] = [];
    await using server = await Listener.open((req, res) => {
      left.push(once(res, 'close'));
      if (req.url === '/half') res.write('half');
    });
    const aborted = { ...message, signal: AbortSignal.abort() };
    expect(await rejection(post(server.url(), aborted))).toMatchObject({ name: 'AbortError' });
    expect(server.asked).toEqual([]);

    const before = new AbortController();
    const call = rejection(post(server.url(), { ...message, signal: before.signal }));
    before.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });

    const during = new AbortController();
    const { stream } = await post(server.url('/half'), { ...message, signal: during.signal });
    const reading = rejection(text(stream));
    during.abort();
    expect(await reading).toMatchObject({ code: 'ECONNRESET' });
    await Promise.all(left);
    expect(left.length).toBeGreaterThan(0);
  });

  it('ends with the signal at the last piece of an answer, which is not thrown where nobody catches it', async () => {
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    const closed = Promise.withResolvers<void>();
    process.on('uncaughtException', note);
    await using server = await Listener.open((_req, res) => {
      res.socket?.once('close', () => closed.resolve());
      res.end('all of it');
    });
    const abort = new AbortController();
    const { stream } = await post(server.url(), { ...message, signal: abort.signal });
    stream.once('data', () => abort.abort());
    await closed.promise;
    process.off('uncaughtException', note);
    expect(thrown).toEqual([]);
  });

  it('names the host, and what the proxy wants to know, to a proxy of the environment', async () => {
    const heads: (string | undefined)[][] = [];
    await using proxy = await Listener.open(({ headers }, res) => {
      heads.push([headers.host, headers['proxy-authorization'], headers['content-length']]);
      res.end('by proxy');
    });
    const options = { keepAlive: true, proxyEnv: { HTTP_PROXY: `http://user:pass@${proxy.url().host}` } };
    const direct = http.globalAgent;
    http.globalAgent = new http.Agent(options);
    syncBuiltinESMExports();
    try {
      expect(await bodyOf(await post(new URL('http://llm.test:81/v1'), message))).toBe('by proxy');
    } finally {
      http.globalAgent = direct;
      syncBuiltinESMExports();
    }
    expect(proxy.asked).toMatchObject([{ path: 'POST http://llm.test:81/v1', body: '{"a":1}' }]);
    expect(heads).toEqual([['llm.test:81', `Basic ${btoa('user:pass')}`, '7']]);
  });

  it('says with the code of the system that nobody listens', async () => {
    const server = await Listener.open((_req, res) => res.end());
    const url = server.url();
    await server[Symbol.asyncDispose]();
    expect(await rejection(post(url, message))).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('takes a status that no HTTP server has for a bad gateway', async () => {
    await using server = await Listener.open((_req, res) => res.writeHead(799).end());
    expect((await post(server.url(), message)).status).toBe(502);
  });
});
