import { type EventReplies, EventReplyStream } from './event-reply-stream.ts';
import type { Protocol } from './protocol.ts';

const PATH = '/v1/chat/completions';
const TEXT = '"delta":{"content":"';
const END_OF_TEXT = '"},"logprobs"';
const FAILURE = 'data: {"error"';

/** Chat completions of the service. */
export const chatReplies: EventReplies = {
  path: PATH,
  body: (content) => bodyOf(content, { stream: true }),
  textOf: (event) => {
    const at = event.indexOf(TEXT);
    // The first event of a reply has an empty text.
    return at === -1 ? null : event.slice(at + TEXT.length, event.lastIndexOf(END_OF_TEXT)) || null;
  },
  isFailure: (event) => event.startsWith(FAILURE),
};

/** OpenAI's interface of the service. Each request is a session of its own. */
export const chatProtocol: Protocol = {
  messageTo: () => ({ path: PATH, body: bodyOf('hello') }),
  openStreams: (port, count) =>
    Promise.all(Array.from({ length: count }, () => EventReplyStream.open(chatReplies, port))),
};

function bodyOf(content: string, more: object = {}): string {
  return JSON.stringify({ model: 'default', messages: [{ role: 'user', content }], ...more });
}
