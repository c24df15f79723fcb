import { type EventReplies, EventReplyStream } from './event-reply-stream.ts';
import type { Protocol } from './protocol.ts';

const PATH = '/v1/responses';
const DELTA = 'event: response.output_text.delta\n';
const TEXT = '"delta":"';
const END_OF_TEXT = '","logprobs":[],"sequence_number":';
const FAILURES = ['event: error\n', 'event: response.failed\n'];

/** OpenAI's responses of the service. They are cut before each word, so a reply of words has an event for each word. */
export const responseReplies: EventReplies = {
  path: PATH,
  body: (content) => bodyOf(content, { stream: true }),
  textOf: (event) => {
    if (!event.startsWith(DELTA)) return null;
    return event.slice(event.indexOf(TEXT) + TEXT.length, event.lastIndexOf(END_OF_TEXT));
  },
  isFailure: (event) => FAILURES.some((failure) => event.startsWith(failure)),
};

/** OpenAI's Responses API of the service. Each request is a session of its own. */
export const responsesProtocol: Protocol = {
  messageTo: () => ({ path: PATH, body: bodyOf('hello') }),
  openStreams: (port, count) =>
    Promise.all(Array.from({ length: count }, () => EventReplyStream.open(responseReplies, port))),
};

function bodyOf(input: string, more: object = {}): string {
  return JSON.stringify({ model: 'default', input, ...more });
}
