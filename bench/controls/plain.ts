import { createServer } from 'node:http';
import express from 'express';
import { type WebSocket, WebSocketServer } from 'ws';
import { apiOf, piecesOf } from './control-options.ts';
import { openAiReplies, openAiResponses, type Replies, scriptedReplies } from './plain-model.ts';

/*
 * The control `plain`: what one would write without this service, with Express for REST, ws for WebSocket and the SDK
 * of the model provider. Conversations are in memory and not durable. Messages of one session may run at the same
 * time.
 */
const upstream = process.env.BENCH_UPSTREAM;
const replies =
  upstream === undefined ? scriptedReplies(piecesOf(process.env)) : await modelReplies(upstream);
const histories = new Map<string, { role: 'user' | 'assistant'; content: string }[]>();
const audiences = new Map<string, Set<WebSocket>>();
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

async function modelReplies(baseURL: string): Promise<Replies> {
  const api = apiOf(process.env);
  if (api !== 'messages') return api === 'chat' ? openAiReplies(baseURL) : openAiResponses(baseURL);
  // Loaded only when used, because it would count in memory and start time.
  const { claudeReplies } = await import('./plain-claude.ts');
  return claudeReplies(baseURL);
}

async function answer(session: string, message: string, onText: (text: string) => void): Promise<string> {
  const history = histories.get(session) ?? [];
  histories.set(session, history);
  history.push({ role: 'user', content: message });
  let content = '';
  for await (const text of replies(history)) {
    content += text;
    onText(text);
  }
  history.push({ role: 'assistant', content });
  return content;
}

const app = express();
app.disable('x-powered-by').disable('etag');
app.use(express.json());
const requireMessage: express.RequestHandler = (req, res, next) => {
  const { message } = req.body;
  if (typeof message === 'string' && message !== '') next();
  else res.status(400).json({ success: false, error: { code: 'MISSING_FIELD' } });
};
app.post('/api/message-sync', requireMessage, async (req, res) => {
  const { message, sessionId = 'default' } = req.body;
  const response = await answer(sessionId, message, () => undefined);
  res.json({ success: true, response, timestamp: new Date().toISOString() });
});
app.post('/api/message', requireMessage, (req, res) => {
  const { message, sessionId = 'default' } = req.body;
  const audience = audiences.get(sessionId) ?? new Set();
  answerAudience(audience, sessionId, message).catch((error: unknown) => process.stderr.write(`${error}\n`));
  res.json({ status: 'processing', timestamp: new Date().toISOString() });
});

const server = createServer(app);
const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket, req) => {
  const session = new URL(req.url ?? '/', 'http://localhost').searchParams.get('session') ?? 'default';
  const audience = audiences.get(session) ?? new Set();
  audiences.set(session, audience.add(socket));
  socket.on('close', () => audience.delete(socket));
  socket.on('message', async (data) => {
    try {
      await answerAudience(audience, session, JSON.parse(String(data)).content);
    } catch (error) {
      broadcast(audience, { event: 'error', data: { message: String(error) } });
    }
  });
});

async function answerAudience(
  audience: ReadonlySet<WebSocket>,
  session: string,
  message: string,
): Promise<void> {
  broadcast(audience, { event: 'thinking', data: { message: 'The agent is working on a reply.' } });
  const content = await answer(session, message, (text) =>
    broadcast(audience, { event: 'chunk', data: { content: text } }),
  );
  broadcast(audience, { event: 'response', data: { content } });
}

function broadcast(audience: ReadonlySet<WebSocket>, frame: unknown): void {
  // As bytes the frame is encoded once, not for each socket.
  const text = Buffer.from(JSON.stringify(frame));
  for (const socket of audience) {
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
    else socket.send(text, { binary: false });
  }
}

server.listen(0, '127.0.0.1', 1_024, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object')
    process.stdout.write(`plain is listening on http://127.0.0.1:${address.port}\n`);
});
