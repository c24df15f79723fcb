import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  /** Any of them, also those that `fetch` forbids: `Host`, `Connection`, `Origin`. */
  readonly headers?: Record<string, string>;
  /** Sent with its length. */
  readonly body?: string | Uint8Array;
}

/** One request by `node:http`, on a connection of its own, with what `fetch` does not let one say. */
export async function rawRequest(port: number, options: RawRequest): Promise<RawResponse> {
  return await readResponse(await openResponse(port, options));
}

/** The same, as soon as the head of the response is there; its body is still to be read. */
export async function openResponse(port: number, options: RawRequest): Promise<IncomingMessage> {
  const { method = 'GET', path = '/', headers = {}, body } = options;
  const req = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
  req.end(body);
  const [response] = (await once(req, 'response')) as [IncomingMessage];
  return response;
}

async function readResponse(response: IncomingMessage): Promise<RawResponse> {
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** What comes back for these bytes until the connection ends; the service has to end it. */
export async function rawExchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return await text(socket);
}

export type Handshake =
  | { readonly accepted: true; readonly socket: Socket }
  | { readonly accepted: false; readonly response: RawResponse };

/** A WebSocket handshake on a connection of its own; the socket is left open when it is accepted. */
export async function handshake(
  port: number,
  headers: Record<string, string> = {},
  path = '/',
): Promise<Handshake> {
  const upgrade = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const req = request({ host: '127.0.0.1', port, path, headers: { ...upgrade, ...headers }, agent: false });
  req.end();
  return await new Promise((resolve, reject) => {
    req.once('error', reject);
    req.once('upgrade', (_response, socket: Socket) => resolve({ accepted: true, socket }));
    req.once('response', (response) => {
      readResponse(response).then((refusal) => resolve({ accepted: false, response: refusal }), reject);
    });
  });
}
