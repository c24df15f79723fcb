import type { OpenAiProvider } from '../../contract/agent-config.ts';

export interface ProviderDefaults {
  /** For people. */
  readonly label: string;
  /** Left out where no address would be a sensible guess: then `llm.baseURL` is needed. */
  readonly baseURL?: string;
  /** Environment variable that holds the key when `llm.apiKey` does not. */
  readonly keyVariable?: string;
  readonly keyRequired: boolean;
  /**
   * Whether the provider is known to accept `stream_options`. Some refuse every request that holds a field
   * they do not know (Mistral answers 422), and most of those report their usage without being asked.
   */
  readonly acceptsStreamOptions: boolean;
}

/**
 * Local servers are addressed by 127.0.0.1: `localhost` may resolve to ::1 first, where they do not listen.
 * `openai-compatible` has a variable of its own, so that a key for OpenAI is never sent to another host.
 */
export const providers: Readonly<Record<OpenAiProvider, ProviderDefaults>> = {
  openai: {
    label: 'OpenAI',
    baseURL: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  'openai-compatible': {
    label: 'OpenAI-compatible server',
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    keyRequired: false,
    acceptsStreamOptions: false,
  },
  anthropic: {
    label: 'Anthropic',
    baseURL: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  google: {
    label: 'Google',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  groq: {
    label: 'Groq',
    baseURL: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  mistral: {
    label: 'Mistral',
    baseURL: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
  },
  openrouter: {
    label: 'OpenRouter',
    baseURL: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  ollama: {
    label: 'Ollama',
    baseURL: 'http://127.0.0.1:11434/v1',
    keyVariable: 'OLLAMA_API_KEY',
    keyRequired: false,
    acceptsStreamOptions: true,
  },
  deepseek: {
    label: 'DeepSeek',
    baseURL: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  together: {
    label: 'Together',
    baseURL: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
  },
  fireworks: {
    label: 'Fireworks',
    baseURL: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
  },
  xai: {
    label: 'xAI',
    baseURL: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: true,
  },
  cerebras: {
    label: 'Cerebras',
    baseURL: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    keyRequired: true,
    acceptsStreamOptions: false,
  },
  lmstudio: {
    label: 'LM Studio',
    baseURL: 'http://127.0.0.1:1234/v1',
    keyVariable: 'LM_API_TOKEN',
    keyRequired: false,
    acceptsStreamOptions: true,
  },
  vllm: {
    label: 'vLLM',
    baseURL: 'http://127.0.0.1:8000/v1',
    keyVariable: 'VLLM_API_KEY',
    keyRequired: false,
    acceptsStreamOptions: true,
  },
};
