import { reasonOf } from './refused.ts';

/** What the load knows of a session without asking the service. */
export interface Expected {
  readonly message: string;
  readonly reply: string | null;
}

interface Told {
  readonly event: string;
  readonly data: object;
}

/** Throws when a message is not what was said, or an answer not what it must be. */
export function requireExpected(told: Told, { message, reply }: Expected): void {
  if (told.event === 'message') requireSame('the message', told.data, message);
  if (told.event === 'response' && reply !== null) requireSame('the answer', told.data, reply);
}

/** @returns what is wrong with the events, or null. */
export function unexpectedIn(events: readonly Told[], expected: Expected): string | null {
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
