import { createParser } from 'eventsource-parser';
import type { StreamPosition } from '../../src/client/stream-position.ts';
import { HandshakeRefused, WebSocketClient } from '../support/websocket-client.ts';
import { Refused } from './refused.ts';

/** One connection of a client to its session. */
export interface StreamLink {
  say(content: string, clientMessageId: string): Promise<void>;
  /** Ends the connection without a closing handshake. No callback is called afterwards. */
  drop(): void;
}

export interface LinkOptions {
  readonly url: URL;
  readonly session: string;
  readonly position: StreamPosition;
  /** Its abort gives up the attempt to connect. */
  readonly late: AbortSignal;
  readonly onText: (frame: string) => void;
  readonly onLost: () => void;
}

/** Rejects with `Refused` when the service refuses the connection, with another error when it cannot be reached. */
export type OpenLink = (options: LinkOptions) => Promise<StreamLink>;

export const openWebSocket: OpenLink = async ({ url, session, position, late, onText, onLost }) => {
  const { seq, offset } = position;
  const path = `/?session=${session}&after=${seq}&offset=${offset}`;
  const socket = await WebSocketClient.open(url, path, { late }).catch((error: unknown) => {
    throw error instanceof HandshakeRefused ? Refused.byResponse(error.status, error.body) : error;
  });
  socket.onFrame = (bytes, start, end) => onText(bytes.toString('utf8', start, end));
  socket.onClose = onLost;
  return {
    say: async (content, clientMessageId) =>
      socket.send(JSON.stringify({ type: 'message', content, clientMessageId })),
    drop: () => socket.drop(),
  };
};

export const openEventStream: OpenLink = async ({ url, session, position, late, onText, onLost }) => {
  const { seq, offset } = position;
  const dropped = new AbortController();
  const giveUp = (): void => dropped.abort();
  late.addEventListener('abort', giveUp);
  const response = await fetch(new URL(`/api/sessions/${session}/events`, url), {
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': offset === 0 ? `${seq}` : `${seq}.${offset}` },
    signal: dropped.signal,
  }).finally(() => late.removeEventListener('abort', giveUp));
  if (!response.ok || !response.body) throw Refused.byResponse(response.status, await response.text());
  const parser = createParser({
    onEvent: ({ data }) => {
      if (!dropped.signal.aborted) onText(data);
    },
  });
  // A stream that ends in any way without `drop` is lost.
  const ended = (): void => {
    if (!dropped.signal.aborted) onLost();
  };
  readAll(response.body, (text) => parser.feed(text)).then(ended, ended);
  return {
    say: (content, clientMessageId) => post(url, { message: content, sessionId: session }, clientMessageId),
    drop: () => dropped.abort(),
  };
};

async function readAll(body: ReadableStream<Uint8Array>, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of body) onText(decoder.decode(bytes, { stream: true }));
}

async function post(url: URL, body: unknown, key: string): Promise<void> {
  const response = await fetch(new URL('/api/message', url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw Refused.byResponse(response.status, text);
}
