import { z } from 'zod';
import type { Image } from '../../../core/conversation/image.ts';
import type { SessionEvent } from '../../../core/log/events.ts';
import { toolResultText } from '../../../core/tool-call/tool-result-text.ts';
import { eventsIn, type RecordedTurn } from '../../requests/recorded-turn.ts';
import { callIdFor } from '../client-tools.ts';
import type { ResponsePlace } from './response-id.ts';

const Part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('input_text'), text: z.string() }),
  z.object({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.never()) }),
  z.object({ type: z.literal('input_image'), detail: z.literal('auto'), image_url: z.string() }),
]);

const id = z.string();
const status = z.literal('completed');

const InputItemShown = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id,
    status,
    role: z.enum(['user', 'assistant']),
    content: z.array(Part),
  }),
  z.object({
    type: z.literal('function_call'),
    ...{ id, status },
    ...{ call_id: z.string(), name: z.string(), arguments: z.string() },
  }),
  z.object({ type: z.literal('function_call_output'), id, status, call_id: z.string(), output: z.string() }),
]);
type InputItemShown = z.infer<typeof InputItemShown>;
/** Without the fields that all items have. */
type NewItem = InputItemShown extends infer I
  ? I extends unknown
    ? Omit<I, 'id' | 'status'>
    : never
  : never;

export const InputItemList = z.object({
  object: z.literal('list'),
  data: z.array(InputItemShown),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});
export type InputItemList = z.infer<typeof InputItemList>;

interface Page {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly after?: string | undefined;
}

/** What the request of a response brought. */
export function inputItems(
  turn: RecordedTurn,
  place: ResponsePlace,
  { order, limit, after }: Page,
): InputItemList {
  const brought = place.firstStep === 1 ? requestedItems(turn.requested) : answeredItems(turn, place);
  const items = brought.map(
    (item, index) =>
      ({
        ...item,
        id: `in_${place.turnId}_${place.firstStep}_${index}`,
        status: 'completed',
      }) as InputItemShown,
  );
  const ordered = order === 'asc' ? items : items.toReversed();
  const begin = after === undefined ? 0 : ordered.findIndex((item) => item.id === after) + 1;
  const data = ordered.slice(begin, begin + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: begin + limit < ordered.length,
  };
}

function requestedItems({ text, image, given = [] }: RecordedTurn['requested']): NewItem[] {
  const history = given.flatMap((message): NewItem[] => {
    switch (message.role) {
      case 'user':
        return [userItem(message.text, message.images ?? [])];
      case 'assistant': {
        const calls = (message.calls ?? []).map(
          ({ callId, name, arguments: args }): NewItem => ({
            ...{ type: 'function_call', call_id: callId },
            ...{ name, arguments: JSON.stringify(args) },
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
  });
  return text === '' && !image ? history : [...history, userItem(text, image ? [image] : [])];
}

function userItem(text: string, images: readonly Image[]): NewItem {
  return {
    type: 'message',
    role: 'user',
    content: [
      ...images.map(({ mimeType, base64 }) => ({
        ...{ type: 'input_image' as const, detail: 'auto' as const },
        image_url: `data:${mimeType};base64,${base64}`,
      })),
      ...(text === '' ? [] : [{ type: 'input_text' as const, text }]),
    ],
  };
}

/** The results with which the client went on. */
function answeredItems({ since }: RecordedTurn, { sessionId, turnId, firstStep }: ResponsePlace): NewItem[] {
  const delegated = new Set<string>();
  const items: NewItem[] = [];
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
