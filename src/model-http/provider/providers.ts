import type { ModelProvider } from '../../config/schema/llm-config.ts';

export interface ProviderDefaults {
  /** The name for people. */
  readonly label: string;
  /** Left out if there is no sensible default: then `llm.baseURL` is required. */
  readonly baseURL?: string;
  /** Environment variable that holds the key when `llm.apiKey` does not. */
  readonly keyVariable?: string;
  readonly keyRequired: boolean;
  /**
   * Whether the provider is known to accept `stream_options`. Some refuse every request with an unknown field (Mistral
   * answers 422), and most of those report their usage without being asked.
   */
  readonly acceptsStreamOptions: boolean;
  /** The field of a chat completion that takes `llm.maxTokens`. */
  readonly tokenLimitField: 'max_tokens' | 'max_completion_tokens';
  /** The field of a chat completion that takes `llm.reasoningEffort`: `reasoning_effort`, or `reasoning: {effort}`. */
  readonly effortField: 'reasoning_effort' | 'reasoning';
  /**
   * Which replies need their reasoning when they are sent back, or make the next one better with it. Opaque fields that
   * sign a reply (`reasoning_details`, `extra_content`) are always returned.
   */
  readonly reasoningBack: 'never' | 'with-tool-calls' | 'always';
  /** Tool call ids that the provider accepts; others are rewritten. By default it accepts any. */
  readonly callIds?: RegExp;
  /** Fields that each assistant message must have, even if empty. */
  readonly besideReply?: Readonly<Record<string, unknown>>;
  /** Fields that an assistant message with tool calls must have, even if empty. */
  readonly besideToolCalls?: Readonly<Record<string, unknown>>;
  /** Fields that the first tool call of a message must have if another model made it. */
  readonly besideForeignCall?: Readonly<Record<string, unknown>>;
  /** The reasoning detail, but for its id, that the first tool call of a message must have if another model made it. */
  readonly foreignCallDetail?: Readonly<Record<string, unknown>>;
  /** Whether each tool result needs the name of its tool. */
  readonly namesResults?: boolean;
  /** The content of a message with tool calls and without text; by default null. */
  readonly emptyContent?: string;
  /** The field of a chat completion that takes `llm.seed`; by default `seed`. */
  readonly seedField?: string;
  /** Whether a chat completion takes a JSON Schema for the reply: not at all if absent, or only where there are no tools. */
  readonly outputSchema?: 'always' | 'without-tools';
  /** How a chat completion can force a tool: by its name if absent, by a word that names no tool, or not at all. */
  readonly toolForcing?: 'by-word' | 'never';
  /** Whether the schemas of tools may only have the keywords that Google takes of OpenAPI 3.0. */
  readonly openApiSchemas?: boolean;
  /** Whether patterns and bounds in schemas stand in descriptions only, because some of them are refused. */
  readonly describesBounds?: boolean;
  /** Most tools in a request, if the provider has a limit. */
  readonly maxTools?: number;
}

/** The values of most providers: the older token limit field, the newer effort field. */
const usual = {
  tokenLimitField: 'max_tokens',
  effortField: 'reasoning_effort',
  reasoningBack: 'never',
} as const;

/** For models that refuse a conversation with tools in which any reply is without: https://api-docs.deepseek.com/guides/thinking_mode */
export const ALL_THOUGHTS = { reasoningBack: 'always', besideReply: { reasoning_content: '' } } as const;

/**
 * Local servers are addressed by 127.0.0.1: `localhost` may resolve to ::1 first, where they do not listen.
 * `openai-compatible` has a variable of its own, so that a key for OpenAI is never sent to another host.
 */
export const providers: Readonly<Record<ModelProvider, ProviderDefaults>> = {
  openai: {
    label: 'OpenAI',
    baseURL: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
    outputSchema: 'always',
    tokenLimitField: 'max_completion_tokens',
    callIds: /^.{1,40}$/,
    maxTools: 128,
  },
  'openai-compatible': {
    label: 'OpenAI-compatible server',
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    keyRequired: false,
    acceptsStreamOptions: false,
    ...usual,
    describesBounds: true,
    reasoningBack: 'with-tool-calls',
  },
  anthropic: {
    label: 'Anthropic',
    baseURL: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
    callIds: /^[\w-]{1,64}$/,
  },
  google: {
    label: 'Google',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
    outputSchema: 'without-tools',
    // https://github.com/NousResearch/hermes-agent/pull/19728
    namesResults: true,
    openApiSchemas: true,
  },
  groq: {
    label: 'Groq',
    baseURL: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
  },
  mistral: {
    label: 'Mistral',
    baseURL: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
    ...usual,
    outputSchema: 'without-tools',
    callIds: /^[a-zA-Z0-9]{9}$/,
    seedField: 'random_seed',
  },
  openrouter: {
    label: 'OpenRouter',
    baseURL: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
    outputSchema: 'without-tools',
    effortField: 'reasoning',
  },
  ollama: {
    label: 'Ollama',
    baseURL: 'http://127.0.0.1:11434/v1',
    keyVariable: 'OLLAMA_API_KEY',
    keyRequired: false,
    acceptsStreamOptions: true,
    ...usual,
    describesBounds: true,
    outputSchema: 'without-tools',
  },
  deepseek: {
    label: 'DeepSeek',
    baseURL: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
    describesBounds: true,
    ...ALL_THOUGHTS,
  },
  together: {
    label: 'Together',
    baseURL: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
    ...usual,
  },
  fireworks: {
    label: 'Fireworks',
    baseURL: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
    ...usual,
    openApiSchemas: true,
    reasoningBack: 'with-tool-calls',
  },
  xai: {
    label: 'xAI',
    baseURL: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
    ...usual,
    outputSchema: 'always',
    emptyContent: '',
  },
  cerebras: {
    label: 'Cerebras',
    baseURL: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
    ...usual,
    outputSchema: 'without-tools',
    tokenLimitField: 'max_completion_tokens',
    reasoningBack: 'with-tool-calls',
  },
  lmstudio: {
    label: 'LM Studio',
    baseURL: 'http://127.0.0.1:1234/v1',
    keyVariable: 'LM_API_TOKEN',
    keyRequired: false,
    acceptsStreamOptions: true,
    ...usual,
    describesBounds: true,
    outputSchema: 'without-tools',
    // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670
    toolForcing: 'by-word',
  },
  vllm: {
    label: 'vLLM',
    baseURL: 'http://127.0.0.1:8000/v1',
    keyVariable: 'VLLM_API_KEY',
    keyRequired: false,
    acceptsStreamOptions: true,
    ...usual,
    outputSchema: 'always',
    reasoningBack: 'with-tool-calls',
  },
};
