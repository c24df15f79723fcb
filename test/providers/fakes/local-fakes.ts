import { llamaCppRules } from '../rules/llama-cpp.ts';
import { lmstudioRules } from '../rules/lmstudio.ts';
import { ollamaRules } from '../rules/ollama.ts';
import { vllmRules } from '../rules/vllm.ts';
import type { Fake } from './fake.ts';
import {
  llamaCppMistralVoice,
  llamaCppVoice,
  lmStudioVoice,
  ollamaVoice,
  vllmVoice,
} from './local-voices.ts';

/** Servers that people run themselves. What they refuse depends on the chat template of the model. */
export const localFakes: readonly Fake[] = [
  {
    name: 'Ollama',
    rules: [ollamaRules],
    voice: ollamaVoice,
    model: 'qwen3-vl:8b',
    llm: { reasoningEffort: 'low' },
  },
  {
    name: 'Ollama, with a model that thinks or does not, and a GIF',
    rules: [ollamaRules],
    voice: ollamaVoice,
    model: 'qwen3:4b',
    llm: { reasoningEffort: 'none' },
    blind: {
      rule: 'an image stands in the request itself, as JPEG, PNG or WebP',
      told: /image/,
      image: 'gif',
    },
  },
  {
    name: 'Gemma 3 on Ollama, which takes no tools',
    rules: [ollamaRules],
    voice: ollamaVoice,
    model: 'gemma3:4b',
    toolless: 'offer',
  },
  {
    name: 'Devstral on llama.cpp',
    rules: [llamaCppRules],
    voice: llamaCppMistralVoice,
    model: 'devstral-small-2507',
  },
  {
    name: 'Qwen 3.5 on llama.cpp',
    rules: [llamaCppRules],
    voice: llamaCppVoice,
    model: 'Qwen3.5-35B-A3B',
    llm: { extraBody: { chat_template_kwargs: { enable_thinking: true } } },
  },
  {
    name: 'Gemma 3 on llama.cpp, without tools',
    rules: [llamaCppRules],
    voice: llamaCppVoice,
    model: 'gemma-3-12b-it',
    toolless: 'offer',
  },
  {
    name: 'gpt-oss on llama.cpp, which sees nothing',
    rules: [llamaCppRules],
    voice: llamaCppVoice,
    model: 'gpt-oss-20b',
    blind: { rule: 'a model without a projector gets no images', told: /image/ },
  },
  { name: 'Qwen 3.5 on vLLM', rules: [vllmRules], voice: vllmVoice, model: 'Qwen/Qwen3.5-35B-A3B' },
  {
    name: 'Gemma 3 on vLLM, without tools',
    rules: [vllmRules],
    voice: vllmVoice,
    model: 'google/gemma-3-27b-it',
    toolless: 'offer',
  },
  {
    name: 'Gemma 2 on vLLM, without a system prompt',
    rules: [vllmRules],
    voice: vllmVoice,
    model: 'google/gemma-2-9b-it',
    systemPrompt: '',
  },
  {
    name: 'Mistral 7B of 2023 on vLLM, without a system prompt',
    rules: [vllmRules],
    voice: vllmVoice,
    model: 'mistralai/Mistral-7B-Instruct-v0.2',
    systemPrompt: '',
    llm: { maxTokens: 1 },
    needsOtherIds: true,
  },
  {
    name: 'Devstral on LM Studio',
    rules: [lmstudioRules],
    voice: lmStudioVoice,
    model: 'mistralai/devstral-small-2507',
    llm: { parallelToolCalls: true },
  },
];
