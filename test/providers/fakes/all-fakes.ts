import { anthropicMessagesRules } from '../rules/anthropic-messages.ts';
import { anthropicMessagesParametersRules } from '../rules/anthropic-messages-parameters.ts';
import { anthropicMessagesToolsRules } from '../rules/anthropic-messages-tools.ts';
import { cerebrasRules } from '../rules/cerebras.ts';
import { deepSeekMessagesRules, deepSeekRules } from '../rules/deepseek.ts';
import { googleChatRules } from '../rules/google-chat.ts';
import { groqRules } from '../rules/groq.ts';
import { mistralRules } from '../rules/mistral.ts';
import { moonshotMessagesRules } from '../rules/moonshot.ts';
import { openaiChatRules } from '../rules/openai-chat.ts';
import { openaiChatToolsRules } from '../rules/openai-chat-tools.ts';
import { openaiResponsesRules } from '../rules/openai-responses.ts';
import { openRouterRules } from '../rules/openrouter.ts';
import { xaiRules } from '../rules/xai.ts';
import { compatibleFakes } from './compatible-fakes.ts';
import type { Fake } from './fake.ts';
import { googleVoice } from './google-voice.ts';
import {
  cerebrasVoice,
  deepSeekVoice,
  groqVoice,
  mistralVoice,
  openaiVoice,
  openRouterGeminiVoice,
  openRouterUnsignedVoice,
  openRouterVoice,
  xaiVoice,
} from './hosted-voices.ts';
import { localFakes } from './local-fakes.ts';
import { messagesVoice } from './messages-voice.ts';
import { responsesVoice } from './responses-voice.ts';
import { withoutThoughts } from './voice.ts';

const anthropicRules = [
  anthropicMessagesRules,
  anthropicMessagesToolsRules,
  anthropicMessagesParametersRules,
];
const openaiRules = [openaiChatRules, openaiChatToolsRules];

export const responsesFake: Fake = {
  name: 'OpenAI gpt-5.6 over responses',
  rules: [openaiResponsesRules],
  voice: responsesVoice,
  model: 'gpt-5.6',
  llm: { reasoningEffort: 'medium', maxTokens: 4_000 },
};

export const budgetClaudeFake: Fake = {
  name: 'Claude Sonnet 4.5, which thinks within a budget',
  rules: anthropicRules,
  voice: messagesVoice('signed'),
  model: 'claude-sonnet-4-5',
  llm: { reasoningEffort: 'medium', stop: ['STOP'] },
  alwaysThinks: true,
};

export const googleFake: Fake = {
  name: 'Gemini 3',
  rules: [googleChatRules],
  voice: googleVoice,
  model: 'gemini-3-pro-preview',
  llm: { reasoningEffort: 'low' },
};

export const geminiOnOpenRouter: Fake = {
  name: 'Gemini 3 on OpenRouter',
  rules: [openRouterRules],
  voice: openRouterGeminiVoice,
  model: 'google/gemini-3-pro-preview',
};

/** Services that have an entry of their own under `llm.provider`. */
const hostedFakes: readonly Fake[] = [
  responsesFake,
  {
    name: 'OpenAI gpt-4.1 over responses, which does not think',
    rules: [openaiResponsesRules],
    voice: withoutThoughts(responsesVoice),
    model: 'gpt-4.1',
    llm: { temperature: 0.2, topP: 0.9, parallelToolCalls: true },
  },
  budgetClaudeFake,
  {
    name: 'Claude Opus 4.7, which decides how long it thinks',
    rules: anthropicRules,
    voice: messagesVoice('redacted'),
    model: 'claude-opus-4-7',
    llm: { reasoningEffort: 'high' },
  },
  {
    name: 'Claude Sonnet 5 without any setting',
    rules: anthropicRules,
    voice: messagesVoice('signed'),
    model: 'claude-sonnet-5',
  },
  {
    name: 'OpenAI gpt-5.6 over chat, without effort',
    rules: openaiRules,
    voice: openaiVoice,
    model: 'gpt-5.6',
    llm: { reasoningEffort: 'none', temperature: 0.2, maxTokens: 4_000, seed: 7 },
  },
  {
    name: 'OpenAI o3-mini over chat, which sees nothing',
    rules: openaiRules,
    voice: openaiVoice,
    model: 'o3-mini',
    llm: { reasoningEffort: 'low', maxTokens: 4_000 },
    blind: { rule: 'only a model that can see is shown an image', told: /image/ },
  },
  googleFake,
  { name: 'Grok 4', rules: [xaiRules], voice: xaiVoice, model: 'grok-4', llm: { temperature: 1 } },
  { name: 'DeepSeek V4', rules: [deepSeekRules], voice: deepSeekVoice, model: 'deepseek-v4-flash' },
  {
    name: 'DeepSeek V4 over the interface of Anthropic',
    rules: [deepSeekMessagesRules],
    voice: messagesVoice('unsigned'),
    model: 'deepseek-v4-flash',
  },
  {
    name: 'Mistral',
    rules: [mistralRules],
    voice: mistralVoice,
    model: 'magistral-medium-latest',
    llm: { seed: 7, maxTokens: 4_000, parallelToolCalls: true },
  },
  {
    name: 'gpt-oss on Groq',
    rules: [groqRules],
    voice: groqVoice,
    model: 'openai/gpt-oss-120b',
    llm: { reasoningEffort: 'low' },
  },
  {
    name: 'a model on Groq that does not think',
    rules: [groqRules],
    voice: withoutThoughts(groqVoice),
    model: 'llama-3.3-70b-versatile',
  },
  {
    name: 'Claude on OpenRouter',
    rules: [openRouterRules],
    voice: openRouterVoice,
    model: 'anthropic/claude-sonnet-4.5',
    llm: { reasoningEffort: 'medium' },
  },
  geminiOnOpenRouter,
  {
    name: 'DeepSeek V4 on OpenRouter',
    rules: [openRouterRules],
    voice: openRouterUnsignedVoice,
    model: 'deepseek/deepseek-v4-flash',
  },
  {
    name: 'Kimi K2.6 on OpenRouter',
    rules: [openRouterRules],
    voice: openRouterUnsignedVoice,
    model: 'moonshotai/kimi-k2.6',
  },
  {
    name: 'Kimi over the interface of Anthropic',
    rules: [moonshotMessagesRules],
    voice: messagesVoice('unsigned'),
    model: 'kimi-for-coding',
  },
  {
    name: 'a model of Mistral on OpenRouter',
    rules: [openRouterRules],
    voice: withoutThoughts(openRouterVoice),
    model: 'mistralai/mistral-small-3.2-24b-instruct',
    needsOtherIds: true,
  },
  {
    name: 'GLM on Cerebras',
    rules: [cerebrasRules],
    voice: cerebrasVoice,
    model: 'zai-glm-4.7',
    llm: { reasoningEffort: 'low', maxTokens: 4_000 },
  },
];

/** One for each provider that has rules, and for each kind of model that a provider treats otherwise. */
export const allFakes: readonly Fake[] = [...hostedFakes, ...compatibleFakes, ...localFakes];
