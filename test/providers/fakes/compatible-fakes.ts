import { deepSeekRules } from '../rules/deepseek.ts';
import { liteLlmGeminiRules, liteLlmRules } from '../rules/litellm.ts';
import { miniMaxRules } from '../rules/minimax.ts';
import { moonshotRules } from '../rules/moonshot.ts';
import { nvidiaNimRules } from '../rules/nvidia-nim.ts';
import { openaiCompatibleRules } from '../rules/openai-compatible.ts';
import { perplexityRules } from '../rules/perplexity.ts';
import { qwenRules } from '../rules/qwen.ts';
import { sambaNovaRules } from '../rules/sambanova.ts';
import {
  liteLlmGeminiVoice,
  liteLlmVoice,
  miniMaxVoice,
  moonshotVoice,
  plainThinkingVoice,
  plainVoice,
  qwenVoice,
  taggedVoice,
} from './compatible-voices.ts';
import type { Fake } from './fake.ts';
import { deepSeekVoice, perplexityVoice } from './hosted-voices.ts';
import { mlxVoice, tgiVoice } from './local-voices.ts';

export const perplexityFake: Fake = {
  name: 'Perplexity, which takes no tools',
  rules: [perplexityRules],
  voice: perplexityVoice,
  model: 'sonar',
  toolless: 'history',
};

/** Services of the provider `openai-compatible`, and one more behind a base URL. They contradict each other, so each is a fake of its own. */
export const compatibleFakes: readonly Fake[] = [
  {
    name: 'Kimi K2.5, which thinks in any case',
    rules: [moonshotRules],
    voice: moonshotVoice,
    model: 'kimi-k2.5',
    alwaysThinks: true,
  },
  {
    name: 'Kimi K2.6, kept from thinking',
    rules: [moonshotRules],
    voice: plainVoice,
    model: 'kimi-k2.6',
    llm: { temperature: 0.6, extraBody: { thinking: { type: 'disabled' } } },
  },
  {
    name: 'Kimi K3 of the plan for coding',
    rules: [moonshotRules],
    voice: moonshotVoice,
    model: 'k3',
    llm: { reasoningEffort: 'high' },
  },
  {
    name: 'DeepSeek V4 behind a gateway',
    rules: [{ ...deepSeekRules, provider: 'openai-compatible' }],
    voice: deepSeekVoice,
    model: 'deepseek/deepseek-v4-flash',
  },
  { name: 'Qwen on DashScope', rules: [qwenRules], voice: qwenVoice, model: 'qwen3-8b' },
  { name: 'MiniMax', rules: [miniMaxRules], voice: miniMaxVoice, model: 'MiniMax-M2.5' },
  {
    name: 'MiniMax, with tags around its thoughts',
    rules: [miniMaxRules],
    voice: taggedVoice,
    model: 'MiniMax-M1',
  },
  perplexityFake,
  {
    name: 'Nemotron 4 on NVIDIA NIM',
    rules: [nvidiaNimRules],
    voice: plainThinkingVoice,
    model: 'nvidia/nemotron-4-340b-instruct',
    llm: { maxTokens: 4_000 },
  },
  {
    name: 'Mixtral on NVIDIA NIM, which is served without tools',
    rules: [nvidiaNimRules],
    voice: plainVoice,
    model: 'mistralai/mixtral-8x22b-instruct-v0.1',
    toolless: 'offer',
  },
  {
    name: 'SambaNova',
    rules: [sambaNovaRules],
    voice: plainThinkingVoice,
    model: 'DeepSeek-R1',
    llm: { topP: 0.9 },
  },
  {
    name: 'TGI',
    rules: [openaiCompatibleRules],
    voice: tgiVoice,
    model: 'tgi',
    llm: { topP: 0.9 },
    needsOtherIds: true,
  },
  {
    name: 'a model of Mistral on MLX',
    rules: [openaiCompatibleRules],
    voice: mlxVoice,
    model: 'mlx-community/Mistral-Small-3.2-24B-Instruct-2506-4bit',
    needsOtherIds: true,
  },
  {
    name: 'Claude Sonnet 4.5 behind LiteLLM, which thinks within a budget',
    rules: [liteLlmRules],
    voice: liteLlmVoice,
    model: 'claude-sonnet-4-5',
    llm: { reasoningEffort: 'medium' },
    alwaysThinks: true,
  },
  {
    name: 'Gemini 3 behind LiteLLM, as an OpenAI with a base URL',
    rules: [liteLlmGeminiRules],
    voice: liteLlmGeminiVoice,
    model: 'gemini-3-pro',
  },
  {
    name: 'Claude on Databricks',
    rules: [openaiCompatibleRules],
    voice: plainVoice,
    model: 'databricks-claude-sonnet-4',
  },
  {
    name: 'Llama on Databricks, which reads texts only',
    rules: [openaiCompatibleRules],
    voice: plainVoice,
    model: 'databricks-meta-llama-3-3-70b-instruct',
    blind: {
      rule: 'content is a string for the models of Llama on Databricks',
      told: /refused the request.*can use tools and images|image/,
    },
  },
];
