import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { LlmConfig } from '../../contract/agent-config.ts';
import type { ModelMessage, ModelTool } from '../../contract/model-message.ts';
import type { ModelRequest } from '../../ports/language-model.ts';
import type { ProviderAccess } from './provider-access.ts';

/** Fields that are not needed are left out, not sent empty: strict servers refuse `tools: []`. */
export function chatRequest(
  access: ProviderAccess,
  temperature: LlmConfig['temperature'],
  request: ModelRequest,
): ChatCompletionCreateParamsStreaming {
  return {
    model: access.model,
    messages: chatMessages(request),
    stream: true,
    ...(access.acceptsStreamOptions && { stream_options: { include_usage: true } }),
    ...(temperature !== undefined && { temperature }),
    ...(request.tools.length > 0 && { tools: request.tools.map(chatTool) }),
  };
}

function chatMessages({ systemPrompt, messages }: ModelRequest): ChatCompletionMessageParam[] {
  const conversation = messages.map(chatMessage);
  return systemPrompt === '' ? conversation : [{ role: 'system', content: systemPrompt }, ...conversation];
}

function chatMessage(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      return userMessage(message);
    case 'assistant':
      return assistantMessage(message);
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
    default:
      return message satisfies never;
  }
}

function userMessage({ text, image }: Extract<ModelMessage, { role: 'user' }>): ChatCompletionMessageParam {
  if (image === undefined) return { role: 'user', content: text };
  const url = `data:${image.mimeType};base64,${image.base64}`;
  const picture = { type: 'image_url', image_url: { url } } as const;
  return { role: 'user', content: text === '' ? [picture] : [{ type: 'text', text }, picture] };
}

function assistantMessage(message: Extract<ModelMessage, { role: 'assistant' }>): ChatCompletionMessageParam {
  const { text, toolCalls } = message;
  if (toolCalls.length === 0) return { role: 'assistant', content: text + cutNote(message.cut) };
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: toolCalls.map((call) => ({
      id: call.callId,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    })),
  };
}

/** Without it the model takes half a sentence for one it had finished. */
function cutNote(cut: 'cancelled' | 'failed' | undefined): string {
  switch (cut) {
    case undefined:
      return '';
    case 'cancelled':
      return ' [cut off: the user cancelled this reply]';
    case 'failed':
      return ' [cut off: this reply failed]';
    default:
      return cut satisfies never;
  }
}

function chatTool({ name, description, inputSchema }: ModelTool): ChatCompletionTool {
  return {
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters: { ...inputSchema } },
  };
}
