import type { ChatMessage } from '../chat/chat-request.ts';
import type { MessageFields, PlacedMessage } from '../chat/placed-message.ts';
import { summaryIn } from './compaction-item.ts';
import type { PlacedItem } from './item-references.ts';
import { McpCallError } from './response-items.ts';
import type { GivenItem, InputContent, McpError } from './response-request.ts';

/** @param field of the request that has the input. */
export function inputMessages(input: string | readonly PlacedItem[], field = 'input'): PlacedMessage[] {
  if (typeof input === 'string')
    return [{ message: { role: 'user', content: input }, fields: fieldsIn(field, []) }];
  const placed: (PlacedMessage & { readonly calls: string[] })[] = [];
  for (const { item, at } of input) {
    const place = `${field}.${at}`;
    for (const message of messagesOf(item, place)) {
      const before = placed.at(-1);
      if (message.role === 'assistant' && message.tool_calls && before?.message.role === 'assistant') {
        // Calls are items of their own here, and belong to the message before them there.
        before.message.tool_calls ??= [];
        for (const call of message.tool_calls) {
          before.message.tool_calls.push(call);
          before.calls.push(place);
        }
      } else {
        const calls = message.role === 'assistant' && message.tool_calls ? [place] : [];
        placed.push({ message, fields: fieldsIn(place, calls), calls });
      }
    }
  }
  return placed;
}

/** @param calls the places of the items of its calls. */
function fieldsIn(whole: string, calls: readonly string[]): MessageFields {
  return {
    whole,
    callId: `${whole}.call_id`,
    argumentsOf: (call) => `${calls[call] ?? whole}.arguments`,
    imageOf: (part) => `${whole}.content.${part}.image_url`,
  };
}

/** @param place names the item in errors. */
function messagesOf(item: GivenItem, place: string): ChatMessage[] {
  switch (item.type) {
    case 'message':
      return [message(item)];
    case 'function_call':
      return [call(item.call_id, item)];
    case 'function_call_output':
      return [{ role: 'tool', tool_call_id: item.call_id, content: textOf(item.output) }];
    case 'mcp_call': {
      const content = item.output ?? (item.error === undefined ? '' : errorText(item.error));
      return [call(item.id, item), { role: 'tool', tool_call_id: item.id, content }];
    }
    case 'compaction':
      return [{ role: 'user', content: summaryIn(item.encrypted_content, `${place}.encrypted_content`) }];
    // Reasoning of another request is of no use to the model of this one.
    case 'reasoning':
      return [];
    default:
      return item satisfies never;
  }
}

/** Servers may put anything into the content of an error. */
function errorText(error: McpError): string {
  if (typeof error === 'string') return error;
  if (error.type !== 'mcp_tool_execution_error') return error.message;
  const { data: ofTexts } = McpCallError.safeParse(error);
  return ofTexts?.content.map(({ text }) => text).join('\n') ?? JSON.stringify(error.content ?? '');
}

function call(
  id: string,
  { name, arguments: args }: { readonly name: string; readonly arguments: string },
): ChatMessage {
  return { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: args } }] };
}

function message({ role, content }: Extract<GivenItem, { type: 'message' }>): ChatMessage {
  if (role !== 'user') return { role, content: textOf(content) };
  if (typeof content === 'string') return { role, content };
  return {
    role,
    content: content.map((part) =>
      part.type === 'input_image'
        ? { type: 'image_url' as const, image_url: { url: part.image_url } }
        : { type: 'text' as const, text: textOf([part]) },
    ),
  };
}

function textOf(content: InputContent): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => {
      switch (part.type) {
        case 'input_text':
        case 'output_text':
          return part.text;
        case 'refusal':
          return part.refusal;
        case 'input_image':
          return '[image]';
        default:
          return part satisfies never;
      }
    })
    .join('\n');
}
