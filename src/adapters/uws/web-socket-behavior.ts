import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js';
import type { Admission, HttpHandler, SocketFront, SocketLife } from '../../ports/web-server.ts';
import { copyRequest, HttpExchange, isClosed } from './http-exchange.ts';
import { handshakeFault } from './request-framing.ts';
import { UwsSocket } from './uws-socket.ts';

/** The user data of a socket. The last two are set when the socket opens. */
export interface SocketData {
  readonly admission: Admission;
  socket?: UwsSocket;
  life?: SocketLife;
}

/** A silent client is pinged after 12 seconds and closed after 20: proxies drop connections that are idle for longer. */
const IDLE_TIMEOUT_SECONDS = 20;
/** Never reached: `Recipient` closes slow readers before. Beyond it uWebSockets.js drops frames, even close frames. */
const MAX_BACKPRESSURE_BYTES = 256 * 1024 * 1024;

export interface WebSocketDeps {
  readonly front: SocketFront;
  readonly http: Pick<HttpHandler, 'refuse'>;
  /** The open sockets. The behavior adds and removes them. */
  readonly open: Set<UwsSocket>;
}

/** @param maxPayloadBytes uWebSockets.js drops the connection of a longer message, without a close frame. */
export function webSocketBehavior(
  { front, http, open }: WebSocketDeps,
  maxPayloadBytes: number,
): WebSocketBehavior<SocketData> {
  return {
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    sendPingsAutomatically: true,
    maxPayloadLength: maxPayloadBytes,
    maxBackpressure: MAX_BACKPRESSURE_BYTES,
    upgrade: (res, req, context) => upgrade({ front, http }, res, req, context),
    open: (ws) => {
      const data = ws.getUserData();
      const socket = new UwsSocket(ws);
      open.add(socket);
      data.socket = socket;
      data.life = data.admission.open(socket);
    },
    message: (ws, message, isBinary) => {
      const text = isBinary ? null : Buffer.from(message).toString('utf8');
      ws.getUserData().life?.receive(text, message.byteLength);
    },
    // Not within this call: uWebSockets.js would forget the unsent rest of a long frame.
    drain: (ws) => {
      const { life } = ws.getUserData();
      setImmediate(() => life?.drained());
    },
    close: (ws) => {
      const { admission, socket, life } = ws.getUserData();
      if (socket) {
        socket.closed();
        open.delete(socket);
      }
      life?.closed();
      admission.release();
    },
  };
}

function upgrade(
  { front, http }: Omit<WebSocketDeps, 'open'>,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  const handshake = copyRequest(res, req);
  if (isClosed(handshake)) return;
  const fault = handshakeFault(handshake.headers);
  const admission = fault ? http.refuse(fault) : front.admit(handshake);
  if ('status' in admission) {
    void new HttpExchange(res, 'GET', { isLast: fault !== null }).respond(admission);
    return;
  }
  const data: SocketData = { admission };
  res.cork(() => {
    res.upgrade(
      data,
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
  });
}
