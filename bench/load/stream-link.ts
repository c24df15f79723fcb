import { createParser } from 'eventsource-parser';
import { readFrame } from '../../src/client/read-frame.ts';
import type { StreamPosition } from '../../src/client/stream-position.ts';
import type { ResumableFrame } from '../../src/contract/frames.ts';
import { WebSocketClient } from '../support/websocket-client.ts';
import { refusalOf } from './instance.ts';

/** One connection of a client to its session. */
export interface StreamLink {
  say(content: string, clientMessageId: string): Promise<void>;
  /** Without a word; nothing is heard of it any more. */
  drop(): void;
}

export interface LinkOptions {
  readonly url: URL;
  readonly session: string;
  readonly position: StreamPosition;
  readonly onFrame: (frame: ResumableFrame) => void;
  readonly onLost: (error: unknown) => void;
}

export type OpenLink = (options: LinkOptions) => Promise<StreamLink>;

export const openWebSocket: OpenLink = async ({ url, session, position, onFrame, onLost }) => {
  const { seq, offset } = position;
  const socket = await WebSocketClient.open(url, `/?session=${session}&after=${seq}&offset=${offset}`);
  socket.onFrame = (bytes, start, end) => onFrame(readFrame(bytes.toString('utf8', start, end)));
  socket.onClose = () => onLost(new Error('the service closed the socket'));
  return {
    say: async (content, clientMessageId) =>
      socket.send(JSON.stringify({ type: 'message', content, clientMessageId })),
    drop: () => socket.drop(),
  };
};

export const openEventStream: OpenLink = async ({ url, session, position, onFrame, onLost }) => {
  const { seq, offset } = position;
  const abort = new AbortController();
  const response = await fetch(new URL(`/api/sessions/${session}/events`, url), {
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': offset === 0 ? `${seq}` : `${seq}.${offset}` },
    signal: abort.signal,
  });
  if (!response.ok || !response.body) throw new Error(refusalOf(response.status, await response.text()));
  const parser = createParser({
    onEvent: ({ data }) => {
      if (!abort.signal.aborted) onFrame(readFrame(data));
    },
  });
  readAll(response.body, (text) => parser.feed(text)).then(
    () => onLost(new Error('the service ended the stream')),
    (error: unknown) => {
      if (!abort.signal.aborted) onLost(error);
    },
  );
  return {
    say: (content, clientMessageId) => post(url, { message: content, sessionId: session }, clientMessageId),
    drop: () => abort.abort(),
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
  if (!response.ok) throw new Error(refusalOf(response.status, text));
}
