import type { MessageCreateParamsStreaming, Tool, ToolChoice } from '@anthropic-ai/sdk/resources/messages';
import type { LlmConfig } from '../../config/schema/llm-config.ts';
import type { ModelTool } from '../../core/conversation/model-message.ts';
import { type ClaudeModel, claudeModel } from '../../model-http/provider/claude-model.ts';
import type { ProviderEndpoint } from '../../model-http/provider/provider-endpoint.ts';
import { mergedBody } from '../../model-http/reply/json.ts';
import type { ModelRequest } from '../../ports/language-model.ts';
import { markedSystem, withMarkedMessages, withMarkedTools } from './cache-marks.ts';
import { conversation, type Message, prefixesOf, type SentThinking } from './conversation.ts';
import { withAcceptedNames } from './property-names.ts';
import { sampling } from './sampling.ts';
import { isThinkingBlock, type ThinkingBlock, type ThinkingPrefixes } from './thinking-blocks.ts';
import { thinkingSettings } from './thinking-settings.ts';

export interface MessagesRequest {
  readonly body: object;
  /** Call this with each thinking block of the reply. */
  remember(block: ThinkingBlock): void;
}

/**
 * The body of a request.
 *
 * @param request with tools that every provider accepts.
 * @throws ModelFailure if the model does not accept a setting.
 */
export function messagesRequest(
  access: ProviderEndpoint,
  config: LlmConfig,
  request: ModelRequest,
  prefixes: ThinkingPrefixes,
): MessagesRequest {
  const model = claudeModel(access.model);
  const { tools, choice } = toolsOf(request, config, model);
  const bindsThinking = model.thinking === 'adaptive';
  const all = conversation(request.messages, sentThinking(access, model));
  const messages = bindsThinking ? withFittingThinking(all, prefixes, request.systemPrompt, tools) : all;
  const maxTokens = config.maxTokens ?? model.maxTokens;
  // Claude refuses those without a visible character.
  const stop = (config.stop ?? []).filter((text) => text.trim() !== '');
  const body = {
    model: access.model,
    max_tokens: maxTokens,
    ...contents(request.systemPrompt, tools, messages, config),
    ...(choice && { tool_choice: choice }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(isForced(choice)
      ? mayThink(model, config) && thinkingSettings(model, 'none', maxTokens)
      : canThink(model, messages) && thinkingSettings(model, config.reasoningEffort, maxTokens)),
    stream: true,
  } satisfies MessageCreateParamsStreaming;
  let prefix: string | undefined;
  return {
    body: mergedBody({ ...body, ...sampling(access, model, config) }, config.extraBody),
    remember(block) {
      if (!bindsThinking) return;
      prefix ??= prefixesOf(messages, request.systemPrompt, tools).at(-1) ?? '';
      prefixes.remember(block, prefix);
    },
  };
}

function sentThinking({ rules }: ProviderEndpoint, { isClaude }: ClaudeModel): SentThinking {
  if (isClaude) return 'turn';
  return rules.reasoningBack === 'always' || rules.besideToolCalls ? 'each' : 'all';
}

type Contents = Pick<MessageCreateParamsStreaming, 'system' | 'tools' | 'messages'>;

type PossibleChoice = Exclude<ToolChoice, { type: 'none' }>;

/**
 * A model that thinks cannot be forced to use a tool. One whose thinking cannot be disabled is left to choose.
 * https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5#forced-tool-use-is-not-supported
 */
function choiceOf(
  choice: Exclude<ModelRequest['toolChoice'], 'none'>,
  { thinkingOff }: ClaudeModel,
): PossibleChoice {
  if (choice === undefined || choice === 'auto' || thinkingOff !== 'disabled') return { type: 'auto' };
  return choice === 'required' ? { type: 'any' } : { type: 'tool', name: choice.name };
}

/** Claude caches the prefix, unless `llm.extraBody` has its own `cache_control`. Null there switches caching off. */
function contents(
  system: string,
  tools: Tool[],
  messages: Message[],
  { extraBody = {} }: LlmConfig,
): Contents {
  const isMarked = !Object.hasOwn(extraBody, 'cache_control');
  const shown = isMarked ? withMarkedMessages(messages) : messages;
  return {
    ...(system.trim() !== '' && { system: isMarked ? markedSystem(system) : system }),
    ...(tools.length > 0 && { tools: isMarked ? withMarkedTools(tools) : tools }),
    messages: shown.map(({ role, content }) => ({ role, content: [...content] })),
  };
}

/**
 * If a request has no tools, Claude refuses a conversation with tool calls, or answers nothing. So the tools that
 * are no longer offered are still defined, but forbidden.
 * https://github.com/anthropics/anthropic-sdk-python/issues/494
 */
function toolsOf(
  { tools, messages, toolChoice }: ModelRequest,
  { parallelToolCalls }: LlmConfig,
  model: ClaudeModel,
): { tools: Tool[]; choice?: ToolChoice } {
  if (tools.length > 0) {
    const list = tools.map(toolOf);
    if (toolChoice === 'none') return { tools: list, choice: { type: 'none' } };
    const choice = choiceOf(toolChoice, model);
    if (parallelToolCalls !== false) return { tools: list, ...(choice.type !== 'auto' && { choice }) };
    return { tools: list, choice: { ...choice, disable_parallel_tool_use: true } };
  }
  const names = messages.flatMap((message) => (message.role === 'tool' ? [message.name] : []));
  if (names.length === 0) return { tools: [] };
  const list = [...new Set(names)].map((name) => toolOf({ name, description: '', inputSchema: {} }));
  return { tools: list, choice: { type: 'none' } };
}

function toolOf({ name, description, inputSchema }: ModelTool): Tool {
  return {
    name,
    ...(description !== '' && { description }),
    input_schema: { ...withAcceptedNames(inputSchema), type: 'object' },
  };
}

function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

/**
 * Whether thinking must be switched off for a request whose model must use a tool. Newer models think without being asked
 * to. The messages need no change: only the first step of a turn is forced, and no thinking is sent back to that.
 */
function mayThink({ isClaude, thinking }: ClaudeModel, { reasoningEffort }: LlmConfig): boolean {
  return reasoningEffort !== undefined || (isClaude && thinking === 'adaptive');
}

/** Leaves out the thinking that the model would refuse. */
function withFittingThinking(
  messages: Message[],
  known: ThinkingPrefixes,
  systemPrompt: string,
  tools: readonly Tool[],
): Message[] {
  if (!messages.some(hasThinking)) return messages;
  const prefixes = prefixesOf(messages, systemPrompt, tools);
  return messages.map((message, index) => {
    if (message.role === 'user' || !hasThinking(message)) return message;
    const content = message.content.filter(
      (block) => !isThinkingBlock(block) || known.fits(block, prefixes[index] ?? ''),
    );
    return { ...message, content };
  });
}

function hasThinking({ content }: Message): boolean {
  return content.some(isThinkingBlock);
}

/**
 * With a budget, Claude refuses to think in a turn that has begun without thinking, as when another model began it.
 * Such a turn ends without thinking.
 */
function canThink({ isClaude, thinking }: ClaudeModel, messages: readonly Message[]): boolean {
  if (!isClaude || thinking === 'adaptive') return true;
  const turn = messages.findLastIndex(({ role, content }) => role === 'user' && content.some(isUserInput));
  const first = messages[turn + 1];
  return first === undefined || isThinkingBlock(first.content[0]);
}

function isUserInput({ type }: Message['content'][number]): boolean {
  return type === 'text' || type === 'image';
}
