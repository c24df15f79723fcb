import {
  globalAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export interface HttpPost {
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as text, decompressed. */
  readonly stream: Readable;
}

/** Far shorter than the system's own connect timeout. */
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;

/**
 * A POST over `node:http` with its kept connections. `fetch` costs twice as much for a call, and twice as much for each
 * read, because it uses web streams.
 *
 * @throws the system's error, with its `code`, when the connection fails; the reason of the signal on abort.
 */
export async function post(url: URL, message: HttpPost, redirects = 0): Promise<HttpAnswer> {
  const answer = await answerTo(url, message);
  const target = redirects < MAX_REDIRECTS ? redirectOf(answer, url) : undefined;
  if (target === undefined) return answer;
  answer.stream.destroy();
  const { authorization: _, 'x-api-key': __, ...withoutKey } = message.headers;
  // The key is sent to the configured origin only.
  const headers = target.origin === url.origin ? message.headers : withoutKey;
  return post(target, { ...message, headers }, redirects + 1);
}

/** Sends again if a kept connection turns out to be closed. This ends, because each attempt uses up one of them. */
async function answerTo(url: URL, message: HttpPost): Promise<HttpAnswer> {
  for (;;) {
    const answer = await send(url, message);
    if (answer) return answer;
  }
}

/** @returns null when the server has closed the kept connection instead of answering. */
function send(url: URL, { headers, body, signal }: HttpPost): Promise<HttpAnswer | null> {
  return new Promise((resolve, reject) => {
    const begin = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = begin(url, { method: 'POST', headers: allHeaders(url, headers, body) });
    // Node's own `signal` option costs more than all headers. `destroy` gets no reason: if the answer has just released
    // the socket, the reason would become an uncaught error.
    const abort = (): void => {
      reject(signal?.reason);
      request.destroy();
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    request.once('socket', (socket) => {
      if (socket.connecting) limitConnectTime(socket, (error) => request.destroy(error));
    });
    // Decode from the start: otherwise bytes that came with the headers are buffered and copied twice.
    request.once('response', (incoming) =>
      resolve({ status: statusOf(incoming), headers: incoming.headers, stream: textOf(incoming) }),
    );
    // After the response this does nothing: the reader of its stream gets the error.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(null);
      else reject(error);
    });
    // On some answers, such as a protocol upgrade, Node closes the connection without another event.
    request.once('close', () => {
      signal?.removeEventListener('abort', abort);
      reject(Object.assign(new Error('no answer came'), { code: 'ECONNRESET' }));
    });
    request.end(body);
  });
}

/**
 * The headers as a list, which Node sends unchanged, so they include those that Node would add. For a proxy they are an
 * object, because Node looks up the host.
 */
function allHeaders(url: URL, headers: HttpPost['headers'], body: string): Record<string, string> | string[] {
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    'content-length': String(Buffer.byteLength(body)),
    // A compressed answer comes in larger pieces than the model's.
    'accept-encoding': 'identity',
  };
  if (usesProxy(globalAgent)) return all;
  const list: string[] = [];
  for (const name in all) list.push(name, all[name] ?? '');
  return list;
}

/** Whether Node was told to find its proxies in the environment (`NODE_USE_ENV_PROXY`). */
function usesProxy(agent: object): boolean {
  if (!('options' in agent) || typeof agent.options !== 'object' || agent.options === null) return false;
  return 'proxyEnv' in agent.options && agent.options.proxyEnv !== undefined;
}

function limitConnectTime(socket: Socket, giveUp: (error: Error) => void): void {
  const timer = setTimeout(() => {
    giveUp(Object.assign(new Error('the connection was not made in time'), { code: 'ETIMEDOUT' }));
  }, CONNECT_TIMEOUT_MS);
  const clear = (): void => clearTimeout(timer);
  socket.once('connect', clear).once('close', clear);
}

/** The target of a redirect that repeats the POST. The other redirects ask for a GET, which is no use here. */
function redirectOf({ status, headers: { location } }: HttpAnswer, from: URL): URL | undefined {
  const repeats = status === 307 || status === 308;
  if (!repeats || location === undefined || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return /^https?:$/.test(target.protocol) ? target : undefined;
}

/** A status outside of 200 to 599 is not an HTTP answer; it counts as 502. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode >= 200 && statusCode <= 599 ? statusCode : 502;
}

/** Some proxies compress although the request asks for `identity`. */
function textOf(incoming: IncomingMessage): Readable {
  const decompressor = decompressorOf(incoming.headers['content-encoding']?.trim().toLowerCase());
  if (!decompressor) return incoming.setEncoding('utf8');
  decompressor.setEncoding('utf8');
  // If nobody reads the answer, an error without a listener would end the process.
  decompressor.on('error', () => undefined);
  // The reader gets the errors of both streams from the decompressor.
  return pipeline(incoming, decompressor, () => undefined);
}

function decompressorOf(encoding: string | undefined): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
  }
  return undefined;
}
