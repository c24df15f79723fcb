import type { ModelProvider } from '../../config/schema/llm-config.ts';
import { ALL_THOUGHTS, type ProviderDefaults } from './providers.ts';

/** The rules of a provider, and those that some models need at any provider. */
export function modelRules(
  provider: ModelProvider,
  model: string,
  defaults: ProviderDefaults,
): ProviderDefaults {
  return {
    ...defaults,
    ...(OF_MISTRAL.test(model) && { callIds: MISTRAL_CALL_IDS }),
    ...(provider === 'openai-compatible' && KIMI.test(model) && { besideToolCalls: KIMI_THOUGHT }),
    ...(OF_MOONSHOT.test(model) && { openApiSchemas: true }),
    ...(provider === 'google' && !SIGNS_NOTHING.test(model) && { besideForeignCall: NO_SIGNATURE }),
    ...(provider === 'openai-compatible' && NEEDS_ALL_THOUGHTS.test(model) && ALL_THOUGHTS),
  };
}

/** The chat templates of these models refuse any other id: https://github.com/ggml-org/llama.cpp/pull/14349 */
const MISTRAL_CALL_IDS = /^[a-zA-Z0-9]{9}$/;
const OF_MISTRAL = /(?:mis|minis|magis|devs|codes|pix|maths|mix|vox)tral/i;

/**
 * Moonshot refuses a tool whose schema refers to anything but its `$defs`, or has a `type` beside `anyOf`, also behind a
 * gateway: https://github.com/MoonshotAI/walle/blob/main/docs/validation-principles.md
 */
const OF_MOONSHOT = /(?:^|[/.])kimi-/i;

/** Moonshot's own names of its models. Other providers put the name of a family in front. */
const KIMI = /^kimi-/i;

/**
 * Moonshot refuses tool calls without reasoning, such as those of another model. It accepts a single blank:
 * https://github.com/BerriAI/litellm/blob/main/litellm/llms/moonshot/chat/transformation.py
 */
const KIMI_THOUGHT = { reasoning_content: ' ' };

/**
 * Behind a gateway, as LiteLLM, these models refuse the same as at DeepSeek. MiMo does so, too:
 * https://github.com/BerriAI/litellm/issues/26395 and https://github.com/NousResearch/hermes-agent/issues/24443
 */
const NEEDS_ALL_THOUGHTS = /deepseek-(?:v[4-9]|chat|reasoner)|mimo-/i;

/** Gemini signs tool calls since version 3, and then refuses unsigned calls of the current turn. */
const SIGNS_NOTHING = /gemini-[12]\b/i;

/** Google's placeholder for a missing signature: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs */
const NO_SIGNATURE = {
  extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
};
