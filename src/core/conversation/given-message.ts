import { z } from 'zod';
import { CallId } from '../ids.ts';
import { Image } from './image.ts';
import type { ModelMessage } from './model-message.ts';

/*
 * A conversation that a client brings with its message, because its interface keeps none on the server: OpenAI's chat
 * completions, and AG-UI. It is recorded as it was given.
 */

const GivenCall = z.object({
  callId: CallId,
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

/** One message of it. A result of a tool follows the message of its call. */
export const GivenMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), text: z.string(), images: z.array(Image).optional() }),
  z.object({ role: z.literal('assistant'), text: z.string(), calls: z.array(GivenCall).optional() }),
  z.object({ role: z.literal('tool'), callId: CallId, name: z.string(), text: z.string() }),
]);
export type GivenMessage = z.infer<typeof GivenMessage>;

/** The message as a part of a transcript. */
export function transcribed(given: GivenMessage): ModelMessage {
  switch (given.role) {
    case 'user': {
      const { role, text, images = [] } = given;
      return { role, text, ...(images.length > 0 && { images }) };
    }
    case 'assistant': {
      const { role, text, calls = [] } = given;
      return {
        role,
        parts: [
          ...(text === '' ? [] : [{ type: 'text' as const, text }]),
          ...calls.map((call) => ({ type: 'toolCall' as const, ...call })),
        ],
      };
    }
    case 'tool':
      return given;
    default:
      return given satisfies never;
  }
}
