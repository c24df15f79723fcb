import type {
  HttpRequest,
  HttpResponse,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import type {
  Admission,
  HttpHandler,
  HttpResponse as Response,
  SocketFront,
  SocketLife,
} from '../../ports/web-server.ts';
import { copyRequest, HttpExchange, isClosed } from './http-exchange.ts';
import { handshakeFault } from './request-framing.ts';
import { UwsSocket } from './uws-socket.ts';

/** The user data of a socket: first its admission, then the others. */
export interface SocketData {
  admission: Admission | null;
  socket: UwsSocket | null;
  life: SocketLife | null;
}

/** A silent client is pinged after 12 seconds and closed after 20: proxies drop connections that are idle for longer. */
const IDLE_TIMEOUT_SECONDS = 20;
/** Never reached: `Recipient` closes slow readers before. Beyond it uWebSockets.js drops frames, even close frames. */
const MAX_BACKPRESSURE_BYTES = 256 * 1024 * 1024;

export interface WebSocketDeps {
  readonly front: SocketFront;
  readonly http: Pick<HttpHandler, 'refuse'>;
}

/** Answers the handshake. The socket is opened within this call. */
type FinishUpgrade = (data: SocketData) => void;

interface HandshakeDeps extends WebSocketDeps {
  readonly upgrade: (res: HttpResponse, admission: Admission, finish: FinishUpgrade) => void;
}

/** @param maxPayloadBytes uWebSockets.js drops the connection of a longer message, without a close frame. */
export function webSocketBehavior(
  { front, http }: WebSocketDeps,
  maxPayloadBytes: number,
): WebSocketBehavior<SocketData> {
  /** Opened by the upgrade that is being done. */
  let opened: WebSocket<SocketData> | null = null;
  const upgrade = (res: HttpResponse, admission: Admission, finish: FinishUpgrade): void => {
    res.cork(() => finish({ admission, socket: null, life: null }));
    if (opened) begin(opened);
    opened = null;
  };
  return {
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    sendPingsAutomatically: true,
    maxPayloadLength: maxPayloadBytes,
    maxBackpressure: MAX_BACKPRESSURE_BYTES,
    upgrade: (res, req, context) => answerHandshake({ front, http, upgrade }, res, req, context),
    /*
     * Nothing but this. After an upgrade that took time, `cork` still reads memory that belonged to the HTTP request:
     * what `open` allocates may lie there, and make it close the socket (uWebSockets#1928).
     */
    open: (ws) => {
      opened = ws;
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
      if (opened === ws) opened = null;
      const { admission, socket, life } = ws.getUserData();
      admission?.release();
      socket?.closed();
      life?.closed();
    },
  };
}

function begin(ws: WebSocket<SocketData>): void {
  const data = ws.getUserData();
  const { admission } = data;
  // What an admission knows of its handshake need not stay in memory with each silent socket.
  data.admission = null;
  data.socket = new UwsSocket(ws);
  data.life = admission?.open(data.socket) ?? null;
}

function answerHandshake(
  { front, http, upgrade }: HandshakeDeps,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  const handshake = copyRequest(res, req);
  if (isClosed(handshake)) return;
  const fault = handshakeFault(handshake.headers);
  if (fault) {
    void new HttpExchange(res, 'GET', { isLast: true }).respond(http.refuse(fault));
    return;
  }
  const finish = upgradeOf(res, req, context);
  const settle = (admission: Admission | Response): void => {
    if ('status' in admission) void new HttpExchange(res, 'GET', { isLast: false }).respond(admission);
    else upgrade(res, admission, finish);
  };
  const admitted = front.admit(handshake);
  if (admitted instanceof Promise) settleLater(res, admitted, settle);
  else settle(admitted);
}

/** Takes what the upgrade needs from the request, which uWebSockets.js frees after this call. */
function upgradeOf(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): FinishUpgrade {
  const [key, protocol, extensions] = [
    req.getHeader('sec-websocket-key'),
    req.getHeader('sec-websocket-protocol'),
    req.getHeader('sec-websocket-extensions'),
  ];
  return (data) => res.upgrade(data, key, protocol, extensions, context);
}

/** @param admitted must not reject. */
function settleLater(
  res: HttpResponse,
  admitted: Promise<Admission | Response>,
  settle: (admission: Admission | Response) => void,
): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  void admitted.then((admission) => {
    if (!isGone) settle(admission);
    else if (!('status' in admission)) admission.release();
  });
}
