import { type GivenMessage, transcribed } from '../conversation/given-message.ts';
import type { Image } from '../conversation/image.ts';
import type { ModelMessage } from '../conversation/model-message.ts';
import type { SessionEvent } from '../log/events.ts';
import type { Keys } from './session-state.ts';

/*
 * About how much memory a session takes, in bytes. A character counts as one byte, as it does in texts of Latin letters
 * and in images. What lives is less, 2.7 KB for a session of one short turn, but V8 lets garbage grow with it.
 */

/** A session without messages. */
export const EMPTY_SESSION_BYTES = 3_500;
/** A message, a part of one, or a key, beside its texts. */
const OBJECT_BYTES = 300;

/** A message as it is sent, before it is a part of the conversation. */
export interface SentMessage {
  readonly text: string;
  readonly image?: Image | undefined;
  /** The conversation before it, as the client gave it. */
  readonly given?: readonly GivenMessage[] | undefined;
}

/** What a message takes that is sent or waits. */
export function sentBytes({ text, image, given }: SentMessage): number {
  return OBJECT_BYTES + text.length + (image?.base64.length ?? 0) + (given ? givenBytes(given) : 0);
}

export function givenBytes(given: readonly GivenMessage[]): number {
  return messagesBytes(given.map(transcribed));
}

/** What the messages of a session take. */
export function messagesBytes(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + messageBytes(message), 0);
}

/** What the session keeps of requests with a key: the keys, and the replies. */
export function keysBytes(keys: Keys): number {
  let sum = 0;
  for (const { outcome } of keys.values())
    sum += OBJECT_BYTES + (outcome?.status === 'completed' ? outcome.content.length : 0);
  return sum;
}

/** What a request adds to that. Counted as if each request had a key. */
export function keyBytes(event: SessionEvent): number {
  switch (event.type) {
    case 'turn.requested':
      return OBJECT_BYTES;
    case 'turn.completed':
      return event.content.length;
    default:
      return 0;
  }
}

function messageBytes(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return (message.images ?? []).reduce(
        (sum, { base64 }) => sum + base64.length,
        OBJECT_BYTES + message.text.length,
      );
    case 'assistant':
      return message.parts.reduce(
        (sum, part) =>
          sum +
          OBJECT_BYTES +
          ('text' in part ? part.text.length : 0) +
          ('arguments' in part ? JSON.stringify(part.arguments).length : 0),
        0,
      );
    case 'tool':
      return OBJECT_BYTES + message.text.length;
    default:
      return message satisfies never;
  }
}
