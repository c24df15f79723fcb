import { z } from 'zod';
import { TimeoutMs } from '../../core/timeout-ms.ts';

/** Providers of real models. All speak OpenAI's chat completions; some have an interface of their own besides. */
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
  reply: z.string().default(''),
  toolCalls: z
    .array(
      z.strictObject({ tool: z.string().min(1), arguments: z.record(z.string(), z.unknown()).default({}) }),
    )
    .default([]),
  /** Said once the tools have answered; `{{results}}` is what they said. */
  afterTools: z.string().default('{{results}}'),
  /** Number of pieces the reply is streamed in; one a word when left out. */
  chunks: z.int().min(1).optional(),
  /** Wait before each piece, in milliseconds. */
  delayMs: z.int().min(0).default(0),
  /** Asks for the same tools again after each result, without end: for trying the step limit. */
  repeat: z.boolean().default(false),
  /** Fails with this reason after the reply was streamed. */
  fail: z.string().optional(),
});
export type ScriptRule = z.infer<typeof ScriptRule>;

const LlmFields = z.strictObject({
  provider: z.enum([...modelProviders, 'scripted']),
  model: z.string().min(1),
  apiKey: z.string().optional(),
  baseURL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  /** Which interface of the provider is used. See `modelApiOf` for what is used when left out. */
  api: z.enum(modelApis).optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  /** Most tokens of one reply, reasoning included. The provider decides when left out. */
  maxTokens: z.int().min(1).optional(),
  /** How much the model thinks before it answers. Each provider takes some of these. */
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Texts that end a reply where the model writes them. */
  stop: z.array(z.string().min(1)).min(1).optional(),
  /** The same seed makes the same reply likelier. */
  seed: z.int().optional(),
  /** Whether the model may ask for several tools at once. */
  parallelToolCalls: z.boolean().optional(),
  /** Fields of the provider's own, merged into each request last. `null` takes a field away. */
  extraBody: z.record(z.string(), z.unknown()).optional(),
  /** Whether what the model thinks aloud is kept in the log. What the provider wants back is kept in any case. */
  keepReasoning: z.boolean().default(false),
  /** Most model calls in one turn. */
  maxSteps: z.int().min(1).max(1000).default(25),
  /** Attempts after the first one when the provider is overloaded or unreachable, while nothing of the reply was heard. */
  maxRetries: z.int().min(0).max(10).default(2),
  /** Longest wait for the first piece of a reply, in milliseconds: a model may think for minutes before it. */
  firstByteTimeoutMs: TimeoutMs.default(300_000),
  /** Longest silence between two pieces of a reply, in milliseconds. */
  timeoutMs: TimeoutMs.default(60_000),
  /** Longest time for one whole model call, in milliseconds. */
  stepTimeoutMs: TimeoutMs.default(600_000),
  /** Rules of the scripted model, tried before its own. */
  script: z.array(ScriptRule).default([]),
});
export type LlmConfig = z.infer<typeof LlmFields>;

/**
 * The interface that is used: OpenAI and Anthropic have one of their own. A `baseURL` means another server, and few of
 * those speak anything but chat completions.
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
