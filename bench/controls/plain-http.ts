import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerLater, listenWithSockets } from './plain-audience.ts';
import { answer } from './plain-conversation.ts';

/* The control `plain-http`: the control `plain` on bare node:http, without Express. */
const MAX_BODY_BYTES = 100 * 1024;

const routes: Readonly<Record<string, (session: string, message: string) => unknown>> = {
  'POST /api/message-sync': async (session, message) => {
    const response = await answer(session, message);
    return { success: true, response, timestamp: new Date().toISOString() };
  },
  'POST /api/message': (session, message) => {
    answerLater(session, message);
    return { status: 'processing', timestamp: new Date().toISOString() };
  },
};

const server = createServer((req, res) => {
  const route = routes[`${req.method} ${req.url}`];
  if (route === undefined) {
    sendJson(res, 404, { success: false, error: { code: 'NOT_FOUND' } });
    return;
  }
  readJson(req)
    .then(async ({ message, sessionId = 'default' }) => {
      if (typeof message !== 'string' || message === '')
        sendJson(res, 400, { success: false, error: { code: 'MISSING_FIELD' } });
      else sendJson(res, 200, await route(sessionId, message));
    })
    .catch((error: unknown) => sendJson(res, 400, { success: false, error: { message: String(error) } }));
});

function readJson(req: IncomingMessage): Promise<{ message?: unknown; sessionId?: string }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    });
    req.on('error', reject);
    req.on('end', () => {
      if (bytes > MAX_BODY_BYTES) reject(new Error('the body is too large'));
      else resolve(Buffer.concat(chunks).toString());
    });
  }).then((text) => JSON.parse(String(text)));
}

function sendJson(res: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  res.end(body);
}

listenWithSockets(server, 'plain-http');
