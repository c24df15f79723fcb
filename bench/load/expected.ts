import { reasonOf } from './refused.ts';

/** The expected content of a session. `reply` is null when the answer is unknown. */
export interface Expected {
  readonly message: string;
  readonly reply: string | null;
}

interface ReceivedEvent {
  readonly event: string;
  readonly data: object;
}

/** @throws Error when a message or an answer differs from the expected one. */
export function requireExpected(received: ReceivedEvent, { message, reply }: Expected): void {
  if (received.event === 'message') requireSame('the message', received.data, message);
  if (received.event === 'response' && reply !== null) requireSame('the answer', received.data, reply);
}

/** @returns the first difference from the expected content, or null. */
export function unexpectedIn(events: readonly ReceivedEvent[], expected: Expected): string | null {
  try {
    for (const event of events) requireExpected(event, expected);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

function requireSame(what: string, data: object, expected: string): void {
  const content: unknown = 'content' in data ? data.content : undefined;
  if (content !== expected)
    throw new Error(`${what} is ${JSON.stringify(content)} and must be ${JSON.stringify(expected)}`);
}
