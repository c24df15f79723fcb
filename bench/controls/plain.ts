import { createServer } from 'node:http';
import express from 'express';
import { answerLater, listenWithSockets } from './plain-audience.ts';
import { answer } from './plain-conversation.ts';

/*
 * The control `plain`: what one would write without this service, with Express for REST, ws for WebSocket and the SDK
 * of the model provider.
 */
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
  const response = await answer(sessionId, message);
  res.json({ success: true, response, timestamp: new Date().toISOString() });
});
app.post('/api/message', requireMessage, (req, res) => {
  const { message, sessionId = 'default' } = req.body;
  answerLater(sessionId, message);
  res.json({ status: 'processing', timestamp: new Date().toISOString() });
});

listenWithSockets(createServer(app), 'plain');
