import { z } from 'zod';
import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import type { Image } from '../../../core/conversation/image.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { SessionEvent } from '../../../core/log/events.ts';
import { toolResultText } from '../../../core/tool-call/tool-result-text.ts';
import { eventsIn, type RecordedTurn } from '../../turns/recorded-turn.ts';
import { callIdFor } from '../client-tools.ts';
import { itemId } from './item-id.ts';
import { itemListOf } from './item-page.ts';
import type { ResponsePlace } from './response-id.ts';

const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.never()) }),
  z.object({ type: z.literal('input_image'), detail: z.literal('auto'), image_url: z.string() }),
]);

const common = { id: z.string(), status: z.literal('completed') };

const MessageContent = z.object({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant']),
  content: z.array(Part),
});
const CallContent = z.object({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});
const OutputContent = z.object({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: z.string(),
});

/** What a client brought, without what tells it from other items. */
type ItemContent = z.infer<typeof MessageContent | typeof CallContent | typeof OutputContent>;

/** What a client brought. */
export const BroughtItem = z.discriminatedUnion('type', [
  MessageContent.extend(common),
  CallContent.extend(common),
  OutputContent.extend(common),
]);
export type BroughtItem = z.infer<typeof BroughtItem>;

export const InputItemList = itemListOf(BroughtItem);
export type InputItemList = z.infer<typeof InputItemList>;

/** What the request of a response brought. */
export function inputItems(turn: RecordedTurn, place: ResponsePlace): BroughtItem[] {
  const { sessionId, turnId, firstStep } = place;
  const brought = firstStep === 1 ? requestedItems(turn.requested) : answeredItems(turn, place);
  return namedItems(brought, `${turnId}_${firstStep}`, sessionId);
}

/** Messages that a client gave without a turn. @param name of what brought them. */
export function givenItems(
  given: readonly GivenMessage[],
  name: string,
  sessionId: SessionId,
): BroughtItem[] {
  return namedItems(given.flatMap(givenContent), name, sessionId);
}

function namedItems(contents: readonly ItemContent[], name: string, sessionId: SessionId): BroughtItem[] {
  return contents.map((content, index) => ({
    ...content,
    id: itemId('in', `${name}_${index}`, sessionId),
    status: 'completed',
  }));
}

function requestedItems({ text, image, given = [] }: RecordedTurn['requested']): ItemContent[] {
  const history = given.flatMap(givenContent);
  return text === '' && !image ? history : [...history, userItem(text, image ? [image] : [])];
}

function givenContent(message: GivenMessage): ItemContent[] {
  switch (message.role) {
    case 'user':
      return [userItem(message.text, message.images ?? [])];
    case 'assistant': {
      const calls = (message.calls ?? []).map(
        ({ callId, name, arguments: args }): ItemContent => ({
          type: 'function_call',
          call_id: callId,
          name,
          arguments: JSON.stringify(args),
        }),
      );
      const content = [{ type: 'output_text' as const, text: message.text, annotations: [] }];
      return [
        ...(message.text === '' ? [] : [{ type: 'message', role: 'assistant', content } as const]),
        ...calls,
      ];
    }
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.callId, output: message.text }];
    default:
      return message satisfies never;
  }
}

function userItem(text: string, images: readonly Image[]): ItemContent {
  return {
    type: 'message',
    role: 'user',
    content: [
      ...images.map(({ mimeType, base64 }) => ({
        type: 'input_image' as const,
        detail: 'auto' as const,
        image_url: `data:${mimeType};base64,${base64}`,
      })),
      ...(text === '' ? [] : [{ type: 'input_text' as const, text }]),
    ],
  };
}

/** The results with which the client went on. */
function answeredItems(
  { since }: RecordedTurn,
  { sessionId, turnId, firstStep }: ResponsePlace,
): ItemContent[] {
  const delegated = new Set<string>();
  const items: ItemContent[] = [];
  let step = 0;
  for (const event of eventsIn(since, turnId)) {
    if (event.type === 'step.completed') step = event.step;
    if (step !== firstStep - 1) continue;
    if (event.type === 'tool-call.delegated') delegated.add(event.callId);
    const output = event.type === 'tool-call.succeeded' ? toolResultText(event.result) : failureOf(event);
    if (output !== undefined && 'callId' in event && delegated.has(event.callId))
      items.push({ type: 'function_call_output', call_id: callIdFor(event.callId, sessionId), output });
  }
  return items;
}

function failureOf(event: SessionEvent): string | undefined {
  return event.type === 'tool-call.failed' || event.type === 'tool-call.interrupted'
    ? event.reason
    : undefined;
}
