import { type EventReplies, EventReplyStream } from './event-reply-stream.ts';
import type { Protocol } from './protocol.ts';

const AGENT = '/api/agents/bench';
const DELTA = 'data: {"type":"text-delta"';
const FAILURE = 'data: {"type":"error"';
const TEXT = '"text":"';
const END_OF_TEXT = '"}}';

/** Mastra's route for streamed replies. */
export const mastraReplies: EventReplies = {
  path: `${AGENT}/stream`,
  body: bodyOf,
  textOf: (event) =>
    event.startsWith(DELTA)
      ? event.slice(event.lastIndexOf(TEXT) + TEXT.length, event.lastIndexOf(END_OF_TEXT))
      : null,
  isFailure: (event) => event.startsWith(FAILURE),
};

/** Mastra's own routes. Without a memory there are no sessions. */
export const mastraProtocol: Protocol = {
  messageTo: () => ({ path: `${AGENT}/generate`, body: bodyOf('hello') }),
  openStreams: (port, count) =>
    Promise.all(Array.from({ length: count }, () => EventReplyStream.open(mastraReplies, port))),
};

function bodyOf(content: string): string {
  return JSON.stringify({ messages: [{ role: 'user', content }] });
}
