import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type {
  AssistantMessage,
  ModelMessage,
  ToolMessage,
  UserMessage,
} from '../../../core/conversation/model-message.ts';
import type { JsonObject } from '../../../core/json-object.ts';
import { spokenText } from '../../../core/turn/step-parts.ts';
import { NO_OUTPUT, NO_TEXT } from '../../../model-http/provider/empty-texts.ts';
import type { ProviderDefaults } from '../../../model-http/provider/providers.ts';
import { acceptableCallId } from '../../../model-http/reply/call-ids.ts';
import type { ModelRequest } from '../../../ports/language-model.ts';

/** The messages of a request. */
export function chatMessages(
  { systemPrompt, messages }: ModelRequest,
  rules: ProviderDefaults,
): ChatCompletionMessageParam[] {
  const turn = messages.findLastIndex(({ role }) => role === 'user');
  const signedIds = signedIdsIn(messages);
  const conversation = messages.map((message, index): ChatCompletionMessageParam => {
    switch (message.role) {
      case 'user':
        return userMessage(message);
      case 'assistant':
        return assistantMessage(message, rules, index > turn);
      case 'tool':
        return toolMessage(message, rules, signedIds);
      default:
        return message satisfies never;
    }
  });
  return systemPrompt === '' ? conversation : [{ role: 'system', content: systemPrompt }, ...conversation];
}

/** The ids of calls that go back with a signature, by those under which the calls are known. */
function signedIdsIn(messages: readonly ModelMessage[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const part of message.parts)
      if (part.type === 'toolCall' && typeof part.opaque?.id === 'string')
        ids.set(part.callId, part.opaque.id);
  }
  return ids;
}

function toolMessage(
  { callId, name, text }: ToolMessage,
  rules: ProviderDefaults,
  signedIds: ReadonlyMap<string, string>,
): ChatCompletionMessageParam {
  const tool_call_id = signedIds.get(callId) ?? acceptableCallId(callId, rules.callIds);
  return { role: 'tool', tool_call_id, ...(rules.namesResults && { name }), content: text || NO_OUTPUT };
}

function userMessage({ text, images = [] }: UserMessage): ChatCompletionMessageParam {
  if (images.length === 0) return { role: 'user', content: text || NO_TEXT };
  const pictures = images.map(({ mimeType, base64 }) => {
    const url = `data:${mimeType};base64,${base64}`;
    return { type: 'image_url', image_url: { url } } as const;
  });
  return { role: 'user', content: text === '' ? pictures : [{ type: 'text', text }, ...pictures] };
}

function assistantMessage(
  { parts }: AssistantMessage,
  rules: ProviderDefaults,
  isInTurn: boolean,
): ChatCompletionMessageParam {
  const text = spokenText(parts);
  const calls = parts.flatMap((part) => (part.type === 'toolCall' ? [part] : []));
  const [first] = calls;
  const opaque = Object.assign({}, ...parts.map((part) => (part.type === 'opaque' ? part.data : {})));
  const { thinking_blocks, ...earlier } = opaque;
  // The signed thinking of Claude belongs to the current turn only, as over Anthropic's own interface.
  const returned = namedAsWanted(isInTurn ? opaque : earlier, rules);
  if (!first) return { role: 'assistant', content: text, ...rules.besideReply, ...returned };
  return {
    role: 'assistant',
    content: text === '' ? (rules.emptyContent ?? null) : text,
    ...rules.besideReply,
    ...rules.besideToolCalls,
    ...(rules.foreignCallDetail && {
      reasoning_details: [{ ...rules.foreignCallDetail, id: acceptableCallId(first.callId, rules.callIds) }],
    }),
    ...returned,
    tool_calls: calls.map(({ callId, name, arguments: args, opaque }, place) => ({
      id: acceptableCallId(callId, rules.callIds),
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
      ...(opaque ?? (place === 0 ? rules.besideForeignCall : undefined)),
    })),
  };
}

/** OpenRouter gives the thoughts in `reasoning`. The models that want them back want them in `reasoning_content`. */
function namedAsWanted(returned: JsonObject, { besideReply, besideToolCalls }: ProviderDefaults): JsonObject {
  const { reasoning, ...others } = returned;
  const wanted = { ...besideReply, ...besideToolCalls };
  return typeof reasoning === 'string' && 'reasoning_content' in wanted
    ? { reasoning_content: reasoning, ...others }
    : returned;
}
