import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseFormatTextJSONSchemaConfig,
} from 'openai/resources/responses/responses';
import type { LlmConfig } from '../../../config/schema/llm-config.ts';
import type { ModelTool } from '../../../core/conversation/model-message.ts';
import type { OutputFormat } from '../../../core/turn/output-format.ts';
import type { ToolChoice } from '../../../core/turn/turn-options.ts';
import { acceptedSchema } from '../../../model-http/provider/accepted-schema.ts';
import type { ProviderEndpoint } from '../../../model-http/provider/provider-endpoint.ts';
import { mergedBody } from '../../../model-http/reply/json.ts';
import type { ModelRequest } from '../../../ports/language-model.ts';
import { type InputItem, inputItems } from './input-items.ts';
import type { Extra } from './responses-call.ts';

type Fields = Omit<ResponseCreateParamsStreaming, 'input'>;
type ResponsesBody = Fields & { input: InputItem[] };

/**
 * The body of a request. The tools must be acceptable to every provider.
 *
 * @param without extras to leave out, because they were refused.
 */
export function responsesRequest(
  access: ProviderEndpoint,
  config: LlmConfig,
  { systemPrompt, messages, tools, toolChoice, output }: ModelRequest,
  without: ReadonlySet<Extra>,
): object {
  const body: ResponsesBody = {
    model: access.model,
    ...(systemPrompt !== '' && { instructions: systemPrompt }),
    input: inputItems(messages, { callIds: access.rules.callIds, withReasoning: !without.has('reasoning') }),
    stream: true,
    // The service keeps the conversation, not the provider. The reasoning is sent back encrypted instead.
    store: false,
    ...(!without.has('include') && { include: ['reasoning.encrypted_content'] }),
    ...(tools.length > 0 && { tools: tools.map(functionTool) }),
    ...(output && { text: { format: outputFormat(output, access) } }),
    ...(toolChoice && { tool_choice: responsesToolChoice(toolChoice) }),
    ...settings(config, without, tools.length > 0),
  };
  return mergedBody(body, config.extraBody);
}

function settings(
  { temperature, topP, maxTokens, reasoningEffort, parallelToolCalls }: LlmConfig,
  without: ReadonlySet<Extra>,
  hasTools: boolean,
): Omit<Fields, 'stream'> {
  const isSummarized = reasoningEffort !== 'none' && !without.has('summary');
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(reasoningEffort !== undefined && {
      reasoning: { effort: reasoningEffort, ...(isSummarized && { summary: 'auto' }) },
    }),
    ...(parallelToolCalls !== undefined && hasTools && { parallel_tool_calls: parallelToolCalls }),
  };
}

function outputFormat(
  { name, schema: given, strict }: OutputFormat,
  { rules }: ProviderEndpoint,
): ResponseFormatTextJSONSchemaConfig {
  const schema = { ...acceptedSchema(given, rules) };
  return { type: 'json_schema', name, schema, ...(strict !== undefined && { strict }) };
}

function responsesToolChoice(choice: ToolChoice): NonNullable<Fields['tool_choice']> {
  return typeof choice === 'string' ? choice : { type: 'function', ...choice };
}

function functionTool({ name, description, inputSchema }: ModelTool): FunctionTool {
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    parameters: { ...inputSchema },
    // By default OpenAI makes the schema strict where possible, and then the model must fill in every optional
    // argument: https://developers.openai.com/api/docs/guides/function-calling?api-mode=responses#strict-mode
    strict: false,
  };
}
