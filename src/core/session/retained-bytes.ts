import type { ModelMessage } from '../conversation/model-message.ts';
import type { Transcript } from '../conversation/transcript.ts';
import type { SessionEvent } from '../log/events.ts';
import { toolResultText } from '../tool-call/tool-result-text.ts';

/*
 * About how much memory a session takes, in bytes. Measured, not derived: 20,000 idle sessions of one short turn took 5 KB
 * each. A character counts as one byte, as it does in texts of Latin letters and in images.
 */

/** A session without messages. */
export const EMPTY_SESSION_BYTES = 3_500;
/** A message, a part of one, or a key, beside its texts. */
const OBJECT_BYTES = 300;

/** What an event adds to the memory of its session. */
export function retainedBytes(event: SessionEvent): number {
  switch (event.type) {
    case 'turn.requested':
      return (
        OBJECT_BYTES + event.text.length + (event.image?.base64.length ?? 0) + (event.key ? OBJECT_BYTES : 0)
      );
    case 'step.completed':
      return event.parts.reduce(
        (sum, part) => sum + OBJECT_BYTES + ('text' in part ? part.text.length : 0),
        0,
      );
    case 'tool-call.requested':
      return argumentBytes(event.arguments);
    case 'tool-call.succeeded':
      return OBJECT_BYTES + toolResultText(event.result).length;
    case 'tool-call.failed':
    case 'tool-call.interrupted':
      return OBJECT_BYTES + event.reason.length;
    case 'turn.failed':
    case 'turn.cancelled':
      return event.partial.length;
    case 'turn.completed':
      // A request with a key keeps its reply.
      return event.content.length;
    default:
      return 0;
  }
}

/** What the messages of a session take that was loaded. */
export function transcriptBytes(transcript: Transcript): number {
  return transcript.reduce((sum, message) => sum + messageBytes(message), 0);
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
          ('arguments' in part ? argumentBytes(part.arguments) : 0),
        0,
      );
    case 'tool':
      return OBJECT_BYTES + message.text.length;
    default:
      return message satisfies never;
  }
}

function argumentBytes(args: Readonly<Record<string, unknown>>): number {
  return JSON.stringify(args).length;
}
