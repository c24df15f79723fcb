import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { answer } from './plain-conversation.ts';

/* The sockets of the controls `plain` and `plain-http`, by ws. */
const audiences = new Map<string, Set<WebSocket>>();
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/** Serves WebSockets, says where the server listens, and starts it. */
export function listenWithSockets(server: Server, name: string): void {
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, req) => {
    const session = new URL(req.url ?? '/', 'http://localhost').searchParams.get('session') ?? 'default';
    const audience = audienceOf(session).add(socket);
    audiences.set(session, audience);
    socket.on('close', () => audience.delete(socket));
    socket.on('message', async (data) => {
      try {
        await answerAudience(session, JSON.parse(String(data)).content);
      } catch (error) {
        broadcast(audience, { event: 'error', data: { message: String(error) } });
      }
    });
  });
  server.listen(0, '127.0.0.1', 1_024, () => {
    const address = server.address();
    if (address !== null && typeof address === 'object')
      process.stdout.write(`${name} is listening on http://127.0.0.1:${address.port}\n`);
  });
}

/** Answers a message of `POST /api/message`, which does not wait for the reply. */
export function answerLater(session: string, message: string): void {
  answerAudience(session, message).catch((error: unknown) => process.stderr.write(`${error}\n`));
}

/** Sends the reply to all sockets of the session, as it comes. */
async function answerAudience(session: string, message: string): Promise<void> {
  const audience = audienceOf(session);
  broadcast(audience, { event: 'thinking', data: { message: 'The agent is working on a reply.' } });
  const content = await answer(session, message, (text) =>
    broadcast(audience, { event: 'chunk', data: { content: text } }),
  );
  broadcast(audience, { event: 'response', data: { content } });
}

function audienceOf(session: string): Set<WebSocket> {
  return audiences.get(session) ?? new Set();
}

function broadcast(audience: ReadonlySet<WebSocket>, frame: unknown): void {
  // As bytes the frame is encoded once, not for each socket.
  const text = Buffer.from(JSON.stringify(frame));
  for (const socket of audience) {
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
    else socket.send(text, { binary: false });
  }
}
