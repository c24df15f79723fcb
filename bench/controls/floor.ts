import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js';
import { piecesOf } from './control-options.ts';
import { type FloorSocket, pipeline } from './floor-pipeline.ts';

/*
 * The control `floor`: bare uWebSockets.js that parses the same JSON and answers with the same bytes, and stores
 * nothing. It shows how fast a server on this stack can be at best.
 */
const upstream = process.env.BENCH_UPSTREAM;
const { piece, pieces } = piecesOf(process.env);
/** Whether all sockets of a session get each reply. Sockets subscribe to a topic only then, because it costs memory. */
const isShared = process.env.BENCH_SHARED === '1';
const PIECES_PER_LOOP = 16;
/** The limit of the service for a socket that does not read. */
const MAX_BACKPRESSURE_BYTES = 8 * 1024 * 1024;

const app = App();
app.post('/api/message-sync', (res) =>
  answer(res, (text) => {
    const { message } = JSON.parse(text);
    return { success: true, response: `you said ${message}`, timestamp: new Date().toISOString() };
  }),
);
app.post('/api/message', (res) =>
  answer(res, (text) => {
    JSON.parse(text);
    return { status: 'processing', timestamp: new Date().toISOString() };
  }),
);
app.post('/mcp', (res) =>
  answer(res, (text) => {
    const { id, params } = JSON.parse(text);
    const content = [{ type: 'text', text: `you said ${params.arguments.message}` }];
    return { jsonrpc: '2.0', id, result: { content } };
  }),
);
app.ws<FloorSocket>('/*', {
  maxBackpressure: MAX_BACKPRESSURE_BYTES,
  closeOnBackpressureLimit: true,
  sendPingsAutomatically: true,
  upgrade: (res, req, context) => {
    res.upgrade(
      { isOpen: true, topic: req.getQuery() },
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
  },
  open: (ws) => {
    if (isShared) ws.subscribe(ws.getUserData().topic);
  },
  message: (ws, message) => {
    JSON.parse(Buffer.from(message).toString());
    const data = ws.getUserData();
    if (upstream !== undefined) pipeline(upstream, ws);
    else if (isShared) sendReply((frame) => app.publish(data.topic, frame));
    else sendReply((frame) => data.isOpen && ws.send(frame));
  },
  close: (ws) => {
    ws.getUserData().isOpen = false;
  },
});
app.listen('127.0.0.1', 0, (socket) => {
  if (socket)
    process.stdout.write(`floor is listening on http://127.0.0.1:${us_socket_local_port(socket)}\n`);
});

function answer(res: HttpResponse, responseTo: (text: string) => unknown): void {
  const chunks: Buffer[] = [];
  res.onAborted(() => undefined);
  res.onData((chunk, isLast) => {
    chunks.push(Buffer.from(chunk.slice(0)));
    if (!isLast) return;
    const body = JSON.stringify(responseTo(Buffer.concat(chunks).toString()));
    res.cork(() => {
      res
        .writeHeader('X-Content-Type-Options', 'nosniff')
        .writeHeader('Content-Type', 'application/json')
        .end(body);
    });
  });
}

/** Sends the scripted reply in groups of the same size as the scripted model of the service. */
function sendReply(send: (frame: string) => unknown): void {
  const frame = JSON.stringify({ event: 'chunk', data: { content: piece } });
  let sent = 0;
  const sendSome = (): void => {
    const end = Math.min(pieces, sent + PIECES_PER_LOOP);
    for (; sent < end; sent += 1) send(frame);
    if (sent < pieces) setImmediate(sendSome);
    else send(JSON.stringify({ event: 'response', data: { content: piece.repeat(pieces) } }));
  };
  send(JSON.stringify({ event: 'thinking', data: { message: 'The agent is working on a reply.' } }));
  sendSome();
}
