import type { WebSocket } from 'uWebSockets.js';
import { Agent, request } from 'node:http';
import type { ModelApi } from '../../src/config/schema/llm-config.ts';
import { apiOf } from './control-options.ts';

/** What the control `floor` keeps for a socket. */
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

interface ModelInterface {
  readonly path: string;
  /** The text of the first event, which ends at `end`; undefined for an event without text. */
  readonly pieceIn: (events: string, end: number) => string | undefined;
}

const interfaces: Readonly<Record<ModelApi, ModelInterface>> = {
  chat: {
    path: '/chat/completions',
    pieceIn: (events, end) => {
      const data = events.slice('data: '.length, end);
      return data === '[DONE]' ? undefined : JSON.parse(data).choices[0]?.delta.content;
    },
  },
  responses: {
    path: '/responses',
    pieceIn: (events, end) => {
      const { type, delta } = JSON.parse(namedData(events, end));
      return type === 'response.output_text.delta' ? delta : undefined;
    },
  },
  messages: {
    path: '/messages',
    pieceIn: (events, end) => {
      const { type, delta } = JSON.parse(namedData(events, end));
      return type === 'content_block_delta' ? delta.text : undefined;
    },
  },
};
const { path, pieceIn } = interfaces[apiOf(process.env)];

/**
 * The least work that brings a reply from the model service to a socket: read, find the text of each event, and send
 * the frames of one read together.
 */
export function pipeline(upstream: string, ws: WebSocket<FloorSocket>): void {
  const send = (frame: unknown): void => void ws.send(JSON.stringify(frame), false);
  send({ event: 'thinking', data: { message: 'The agent is working on a reply.' } });
  const call = request(`${upstream}${path}`, { method: 'POST', agent, headers }, (response) => {
    let rest = '';
    let content = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (!ws.getUserData().isOpen) return;
      rest += text;
      ws.cork(() => {
        for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
          const piece = pieceIn(rest, end);
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

/** The data of an event that begins with a line for its name. */
function namedData(events: string, end: number): string {
  return events.slice(events.indexOf('\ndata: ') + '\ndata: '.length, end);
}
