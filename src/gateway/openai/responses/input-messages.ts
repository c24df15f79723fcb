import type { ChatMessage } from '../chat/chat-request.ts';
import type { PlacedMessages } from '../chat/tool-answers.ts';
import { summaryIn } from './compaction-item.ts';
import { McpCallError } from './response-items.ts';
import type { GivenItem, InputContent, McpError } from './response-request.ts';

/** @param field of the request that has the input. */
export function inputMessages(input: string | readonly GivenItem[], field = 'input'): PlacedMessages {
  if (typeof input === 'string')
    return { messages: [{ role: 'user', content: input }], fieldOf: () => field };
  const messages: ChatMessage[] = [];
  const places: number[] = [];
  for (const [index, item] of input.entries()) {
    for (const message of messagesOf(item)) {
      const before = messages.at(-1);
      if (message.role === 'assistant' && message.tool_calls && before?.role === 'assistant') {
        // Calls are items of their own here, and belong to the message before them there.
        before.tool_calls ??= [];
        for (const call of message.tool_calls) before.tool_calls.push(call);
      } else {
        messages.push(message);
        places.push(index);
      }
    }
  }
  return { messages, fieldOf: (index) => `${field}.${places[index] ?? 0}` };
}

function messagesOf(item: GivenItem): ChatMessage[] {
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
      return [{ role: 'user', content: summaryIn(item.encrypted_content) }];
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
