import { z } from 'zod';
import { TimeoutMs } from '../../core/timeout-ms.ts';
import { HttpUrl } from './web-url.ts';

/** Providers of real models. All support OpenAI's chat completions; some also have an interface of their own. */
export const modelProviders = [
  'openai',
  'openai-compatible',
  'anthropic',
  'google',
  'groq',
  'mistral',
  'openrouter',
  'ollama',
  'deepseek',
  'together',
  'fireworks',
  'xai',
  'cerebras',
  'lmstudio',
  'vllm',
] as const;
export type ModelProvider = (typeof modelProviders)[number];

/**
 * Interfaces of model providers: OpenAI's chat completions, OpenAI's Responses API, Anthropic's Messages API.
 */
export const modelApis = ['chat', 'responses', 'messages'] as const;
export type ModelApi = (typeof modelApis)[number];

/** One rule of the scripted model. The first whose `when` matches the user's message answers. */
export const ScriptRule = z.strictObject({
  /** A regular expression, case-insensitive; `$1` … in `reply`, `afterTools` and `arguments` are its groups. */
  when: z.string().refine(isRegExp, 'must be a valid regular expression'),
  reply: z.string('must be the text of the reply, in quotes').default(''),
  toolCalls: z
    .array(
      z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}) }),
    )
    .default([]),
  /** The reply after the tools have answered; `{{results}}` stands for their results. */
  afterTools: z.string().default('{{results}}'),
  /** Number of pieces of the streamed reply; by default one per word. */
  chunks: z.int().min(1).optional(),
  /** Wait before each piece, in milliseconds. */
  delayMs: z.int().min(0).default(0),
  /** Calls the same tools again after each result, without end. Useful to test the step limit. */
  repeat: z.boolean().default(false),
  /** The call fails with this reason after the reply was streamed. */
  fail: z.string().optional(),
});
export type ScriptRule = z.infer<typeof ScriptRule>;

const LlmFields = z.strictObject({
  provider: z.enum([...modelProviders, 'scripted']),
  model: z.string().min(1),
  apiKey: z.string().optional(),
  baseURL: HttpUrl.optional(),
  /** The interface of the provider. `modelApiOf` has the default. */
  api: z.enum(modelApis).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  /** Most tokens of one reply, reasoning included. The provider decides when left out. */
  maxTokens: z.int().min(1).optional(),
  /** How much the model thinks before it answers. Each provider accepts some of these values. */
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** The reply ends where the model writes one of these texts. */
  stop: z.array(z.string().min(1)).min(1).optional(),
  /** The same seed makes the same reply likelier. */
  seed: z.int().optional(),
  /** Whether the model may ask for several tools at once. */
  parallelToolCalls: z.boolean().optional(),
  /** Further fields of the provider, merged into each request last. `null` removes a field. */
  extraBody: z.record(z.string(), z.unknown()).optional(),
  /** Whether the log keeps the model's reasoning. The log always keeps the parts that the provider wants back. */
  keepReasoning: z.boolean().default(false),
  /** Most model calls in one turn. */
  maxSteps: z.int().min(1).max(1000).default(25),
  /** Retries when the provider is overloaded or unreachable, as long as no part of the reply has come. */
  maxRetries: z.int().min(0).max(10).default(2),
  /** Longest wait for the first piece of a reply, in milliseconds: a model may think for minutes before it. */
  firstByteTimeoutMs: TimeoutMs.default(300_000),
  /** Longest silence between two pieces of a reply, in milliseconds: some servers hold a tool call back until it is whole. */
  timeoutMs: TimeoutMs.default(300_000),
  /** Longest time for one whole model call, in milliseconds. */
  stepTimeoutMs: TimeoutMs.default(600_000),
  /** Rules of the scripted model, tried before the built-in ones. */
  script: z.array(ScriptRule).default([]),
});
export type LlmConfig = z.infer<typeof LlmFields>;

/** What a provider is reached with. Read by itself, so that it can be checked while other settings are wrong. */
export const LlmAccess = LlmFields.pick({ provider: true, apiKey: true, baseURL: true }).strip();
export type LlmAccess = z.infer<typeof LlmAccess>;

/**
 * The interface in use. OpenAI and Anthropic have one of their own. A `baseURL` means another server, and most of those
 * support chat completions only.
 */
export function modelApiOf({
  provider,
  api,
  baseURL,
}: Pick<LlmConfig, 'provider' | 'api' | 'baseURL'>): ModelApi {
  if (api !== undefined) return api;
  if (baseURL !== undefined) return 'chat';
  if (provider === 'anthropic') return 'messages';
  return provider === 'openai' ? 'responses' : 'chat';
}

/** Settings that an interface has no field for. */
const missingSettings: Readonly<Record<ModelApi, readonly (keyof LlmConfig)[]>> = {
  chat: [],
  responses: ['stop', 'seed'],
  messages: ['seed'],
};

export const LlmConfig = LlmFields.superRefine((llm, context) => {
  const api = modelApiOf(llm);
  if (llm.provider === 'scripted') return;
  for (const key of missingSettings[api]) {
    if (llm[key] === undefined) continue;
    const message = `the API in use (llm.api: ${api}) has no such field; remove it, or set llm.api: chat`;
    context.addIssue({ code: 'custom', path: [key], message });
  }
});

function isRegExp(source: string): boolean {
  try {
    new RegExp(source, 'iu');
    return true;
  } catch {
    return false;
  }
}
