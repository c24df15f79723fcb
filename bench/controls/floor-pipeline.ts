import type { WebSocket } from 'uWebSockets.js';
import { Agent, request } from 'node:http';

export interface FloorSocket {
  isOpen: boolean;
  readonly topic: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const body = JSON.stringify({
  model: 'bench',
  stream: true,
  messages: [{ role: 'user', content: 'stream' }],
});
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };

/** The least that brings a reply from the model service to the socket: read, find the text, send what one read brought in one go. */
export function pipeline(upstream: string, ws: WebSocket<FloorSocket>): void {
  const send = (frame: unknown): void => void ws.send(JSON.stringify(frame), false);
  send({ event: 'thinking', data: { message: 'The agent is working on a reply.' } });
  const call = request(`${upstream}/chat/completions`, { method: 'POST', agent, headers }, (response) => {
    let rest = '';
    let content = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (!ws.getUserData().isOpen) return;
      rest += text;
      ws.cork(() => {
        for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
          const piece = pieceOf(rest.slice('data: '.length, end));
          rest = rest.slice(end + 2);
          if (!piece) continue;
          content += piece;
          send({ event: 'chunk', data: { content: piece } });
        }
      });
    });
    response.on('end', () => send({ event: 'response', data: { content } }));
  });
  call.end(body);
}

function pieceOf(data: string): string | undefined {
  return data === '[DONE]' ? undefined : JSON.parse(data).choices[0]?.delta.content;
}
