import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionTool,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions';
import type { ResponseFormatJSONSchema } from 'openai/resources/shared';
import type { LlmConfig } from '../../../config/schema/llm-config.ts';
import type { ModelTool } from '../../../core/conversation/model-message.ts';
import type { OutputFormat } from '../../../core/turn/output-format.ts';
import { acceptedSchema } from '../../../model-http/provider/accepted-schema.ts';
import type { ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import type { ProviderDefaults } from '../../../model-http/provider/providers.ts';
import { mergedBody } from '../../../model-http/reply/json.ts';
import type { ModelRequest } from '../../../ports/language-model.ts';
import { chatMessages } from './chat-messages.ts';
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

function chatTool({ name, description, inputSchema }: ModelTool): ChatCompletionTool {
  return {
    type: 'function',
    function: { name, ...(description !== '' && { description }), parameters: { ...inputSchema } },
  };
}
