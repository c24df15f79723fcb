import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions';
import type { ResponseFormatJSONSchema } from 'openai/resources/shared';
import type { LlmConfig } from '../../../config/schema/llm-config.ts';
import type {
  AssistantMessage,
  ModelMessage,
  ModelTool,
  ToolMessage,
  UserMessage,
} from '../../../core/conversation/model-message.ts';
import type { JsonObject } from '../../../core/json-object.ts';
import type { OutputFormat } from '../../../core/turn/output-format.ts';
import { spokenText } from '../../../core/turn/step-parts.ts';
import { acceptedSchema } from '../../../model-http/provider/accepted-schema.ts';
import { NO_OUTPUT, NO_TEXT } from '../../../model-http/provider/empty-texts.ts';
import type { ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import type { ProviderDefaults } from '../../../model-http/provider/providers.ts';
import { acceptableCallId } from '../../../model-http/reply/call-ids.ts';
import { mergedBody } from '../../../model-http/reply/json.ts';
import type { ModelRequest } from '../../../ports/language-model.ts';
import { mayThink } from './claude-thinking.ts';

/** The body of a request. @param request with tools that every provider accepts. */
export function chatRequest(access: ProviderEndpoint, config: LlmConfig, request: ModelRequest): object {
  const { model, rules } = access;
  const { tools, choice } = offered(request, rules);
  const body: ChatCompletionCreateParamsStreaming = {
    model,
    messages: chatMessages(request, rules),
    stream: true,
    // Strict servers refuse `tools: []`, so fields that are not needed are left out.
    ...(tools.length > 0 && { tools: tools.map(chatTool) }),
    ...(takesSchema(request, rules) && { response_format: responseFormat(request.output, rules) }),
    ...(choice && { tool_choice: choice }),
    ...(rules.acceptsStreamOptions && { stream_options: { include_usage: true } }),
  };
  const { reasoningEffort, ...others } = config;
  const asked = mayThink(model, request) ? config : others;
  const settings = chatSettings(rules, asked, request.tools.length > 0);
  return mergedBody({ ...body, ...settings }, config.extraBody);
}

function takesSchema<R extends ModelRequest>(
  request: R,
  { outputSchema }: ProviderDefaults,
): request is R & Required<Pick<ModelRequest, 'output'>> {
  if (!request.output || !outputSchema) return false;
  return outputSchema === 'always' || request.tools.length === 0;
}

function responseFormat(
  { name, schema, strict }: OutputFormat,
  rules: ProviderDefaults,
): ResponseFormatJSONSchema {
  return {
    type: 'json_schema',
    json_schema: {
      name,
      schema: { ...acceptedSchema(schema, rules) },
      ...(strict !== undefined && { strict }),
    },
  };
}

interface OfferedTools {
  readonly tools: readonly ModelTool[];
  readonly choice?: ChatCompletionToolChoiceOption;
}

/** Where the choice cannot name a tool, that tool is the only one that is offered. */
function offered({ tools, toolChoice }: ModelRequest, { toolForcing }: ProviderDefaults): OfferedTools {
  if (toolChoice === undefined) return { tools };
  if (toolChoice === 'auto' || toolChoice === 'none') return { tools, choice: toolChoice };
  if (toolForcing === 'never') return { tools };
  if (toolChoice === 'required') return { tools, choice: toolChoice };
  if (toolForcing !== 'by-word') return { tools, choice: { type: 'function', function: toolChoice } };
  return { tools: tools.filter(({ name }) => name === toolChoice.name), choice: 'required' };
}

function chatSettings(
  { tokenLimitField, effortField, seedField = 'seed' }: ProviderDefaults,
  { temperature, topP, maxTokens, reasoningEffort, stop, seed, parallelToolCalls }: LlmConfig,
  hasTools: boolean,
): object {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { [tokenLimitField]: maxTokens }),
    ...(reasoningEffort !== undefined && {
      [effortField]: effortField === 'reasoning' ? { effort: reasoningEffort } : reasoningEffort,
    }),
    ...(stop !== undefined && { stop }),
    ...(seed !== undefined && { [seedField]: seed }),
    ...(parallelToolCalls !== undefined && hasTools && { parallel_tool_calls: parallelToolCalls }),
  };
}

function chatMessages(
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
  const opaque = Object.assign({}, ...parts.map((part) => (part.type === 'opaque' ? part.data : {})));
  const { thinking_blocks, ...earlier } = opaque;
  // The signed thinking of Claude belongs to the current turn only, as over Anthropic's own interface.
  const returned = namedAsWanted(isInTurn ? opaque : earlier, rules);
  if (calls.length === 0) return { role: 'assistant', content: text, ...rules.besideReply, ...returned };
  return {
    role: 'assistant',
    content: text === '' ? (rules.emptyContent ?? null) : text,
    ...rules.besideReply,
    ...rules.besideToolCalls,
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

function chatTool({ name, description, inputSchema }: ModelTool): ChatCompletionTool {
  return {
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters: { ...inputSchema } },
  };
}
