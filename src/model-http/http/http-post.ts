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
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, unpacked and as text. */
  readonly stream: Readable;
}

/** A host that does not answer is given up long before the system would give it up. */
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;

/**
 * One POST over `node:http` and the connections that it keeps. `fetch` costs twice as much for a call and,
 * being made of web streams, for each read.
 *
 * @throws the system's error, with its `code`, when the connection fails; the reason of the signal on abort.
 */
export async function post(url: URL, message: HttpPost, redirects = 0): Promise<HttpAnswer> {
  const answer = await answerTo(url, message);
  const target = redirects < MAX_REDIRECTS ? redirectOf(answer, url) : undefined;
  if (target === undefined) return answer;
  answer.stream.destroy();
  const { authorization: _, 'x-api-key': __, ...withoutKey } = message.headers;
  // The key is for whom the configuration names.
  const headers = target.origin === url.origin ? message.headers : withoutKey;
  return post(target, { ...message, headers }, redirects + 1);
}

/** Over a kept connection that turns out to be closed it is sent again at once: each time there is one less of them. */
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
    // Node's own `signal` option costs more than all headers. The request is not told the reason: its socket would
    // throw it where nobody catches it, if the answer has let go of the socket just then.
    const abort = (): void => {
      reject(signal?.reason);
      request.destroy();
    };
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    request.once('socket', (socket) => {
      if (socket.connecting) giveUpInTime(socket, (error) => request.destroy(error));
    });
    // Decoded from here on: what came with the head would else be kept as buffers, and copied twice more as one text.
    request.once('response', (incoming) =>
      resolve({ status: statusOf(incoming), headers: incoming.headers, stream: textOf(incoming) }),
    );
    // Also after the response: then its reader is told as well, and this does nothing.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(null);
      else reject(error);
    });
    // Some answers are none, such as a change of the protocol: Node closes the connection and says nothing.
    request.once('close', () => {
      signal?.removeEventListener('abort', abort);
      reject(Object.assign(new Error('no answer came'), { code: 'ECONNRESET' }));
    });
    request.end(body);
  });
}

/** With what Node would add to a list, which it takes as it is; for a proxy it wants to look them up. */
function allHeaders(url: URL, headers: HttpPost['headers'], body: string): Record<string, string> | string[] {
  const all: Record<string, string> = {
    ...headers,
    host: url.host,
    'content-length': String(Buffer.byteLength(body)),
    // What is packed comes in larger pieces than the model says it in.
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

function giveUpInTime(socket: Socket, giveUp: (error: Error) => void): void {
  const timer = setTimeout(() => {
    giveUp(Object.assign(new Error('the connection was not made in time'), { code: 'ETIMEDOUT' }));
  }, CONNECT_TIMEOUT_MS);
  const clear = (): void => clearTimeout(timer);
  socket.once('connect', clear).once('close', clear);
}

/** Where the same request is wanted; the other redirects want a GET, which is no use to anybody here. */
function redirectOf({ status, headers: { location } }: HttpAnswer, from: URL): URL | undefined {
  const repeats = status === 307 || status === 308;
  if (!repeats || location === undefined || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return /^https?:$/.test(target.protocol) ? target : undefined;
}

/** A status beyond those that a `Response` can hold is the answer of no HTTP server. */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  return statusCode >= 200 && statusCode <= 599 ? statusCode : 502;
}

/** Some proxies pack what was not to be packed. */
function textOf(incoming: IncomingMessage): Readable {
  const unpacker = unpackerOf(incoming.headers['content-encoding']?.trim().toLowerCase());
  if (!unpacker) return incoming.setEncoding('utf8');
  unpacker.setEncoding('utf8');
  // Where nobody reads, as of an answer that is no event stream, an error without a listener would end the process.
  unpacker.on('error', () => undefined);
  // The reader is told by the unpacker what went wrong on either side of it.
  return pipeline(incoming, unpacker, () => undefined);
}

function unpackerOf(encoding: string | undefined): Transform | undefined {
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
