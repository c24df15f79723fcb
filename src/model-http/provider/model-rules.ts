import type { LlmConfig, ModelProvider } from '../../config/schema/llm-config.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { ALL_THOUGHTS, type ProviderDefaults } from './providers.ts';

/** The rules of a provider, and those that some models need at any provider. */
export function modelRules(
  provider: ModelProvider,
  { model, extraBody }: Pick<LlmConfig, 'model' | 'extraBody'>,
  defaults: ProviderDefaults,
): ProviderDefaults {
  const atMoonshot = PASS_ON.has(provider) && AT_MOONSHOT.test(model);
  return {
    ...defaults,
    ...(OF_MISTRAL.test(model) && { callIds: MISTRAL_CALL_IDS }),
    ...(atMoonshot && WITH_TOOL_CALLS),
    ...(atMoonshot && !isKeptFromThinking(extraBody) && kimiForcing(model)),
    ...(OF_MOONSHOT.test(model) && { openApiSchemas: true }),
    ...(OF_DEEPSEEK.test(model) && { describesBounds: true }),
    ...(provider === 'google' && !SIGNS_NOTHING.test(model) && { besideForeignCall: NO_SIGNATURE }),
    ...(provider === 'openrouter' && SIGNS_CALLS.test(model) && { foreignCallDetail: NO_SIGNED_DETAIL }),
    ...(PASS_ON.has(provider) && NEEDS_ALL_THOUGHTS.test(model) && ALL_THOUGHTS),
  };
}

/** The chat templates of these models refuse any other id: https://github.com/ggml-org/llama.cpp/pull/14349 */
const MISTRAL_CALL_IDS = /^[a-zA-Z0-9]{9}$/;
const OF_MISTRAL = /(?:mis|minis|magis|devs|codes|pix|maths|mix|vox)tral/i;

/**
 * The plan for coding of Kimi has short names, such as `k3`, `k3-256k` and `k2p7`:
 * https://github.com/anomalyco/models.dev/pull/3285, https://github.com/openJiuwen-ai/jiuwenswarm/issues/3942
 */
const KIMI = String.raw`(?:kimi-|k(?:[3-9]|\dp\d)(?:-\d+k)?$)`;

/**
 * Moonshot refuses a tool whose schema refers to anything but its `$defs`, or has a `type` beside `anyOf`, also behind a
 * gateway: https://github.com/MoonshotAI/walle/blob/main/docs/validation-principles.md
 */
const OF_MOONSHOT = new RegExp(`(?:^|[/.])${KIMI}`, 'i');

/** A gateway passes on what DeepSeek refuses: https://github.com/Dokploy/mcp/issues/43 */
const OF_DEEPSEEK = /deepseek/i;

/** The names at Moonshot, and at a gateway to it. Other providers put another family in front. */
const AT_MOONSHOT = new RegExp(`^(?:moonshot(?:ai)?/)?${KIMI}`, 'i');

/**
 * The providers through which the maker of a model answers itself. Others serve the models by themselves, and refuse other
 * things. `openai` and `anthropic` are among them where a base URL leads to another maker, or to a gateway:
 * https://github.com/continuedev/continue/issues/12691, https://github.com/continuedev/continue/issues/11600
 */
const PASS_ON: ReadonlySet<ModelProvider> = new Set([
  'openai-compatible',
  'openrouter',
  'openai',
  'anthropic',
]);

/**
 * Moonshot refuses tool calls without reasoning, such as those of another model, also through OpenRouter. It accepts a single
 * blank: https://github.com/BerriAI/litellm/blob/main/litellm/llms/moonshot/chat/transformation.py,
 * https://github.com/anomalyco/opencode/issues/29690
 */
const WITH_TOOL_CALLS = {
  reasoningBack: 'with-tool-calls',
  besideToolCalls: { reasoning_content: ' ' },
} as const;

/**
 * While they think, and they do by default, Kimi K3 can be forced to use a tool but not a certain one, and the models before
 * it not at all: https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152
 */
function kimiForcing(model: string): Pick<ProviderDefaults, 'toolForcing'> {
  return { toolForcing: /(?:^|[/-])k[3-9]/i.test(model) ? 'by-word' : 'never' };
}

function isKeptFromThinking({ thinking }: NonNullable<LlmConfig['extraBody']> = {}): boolean {
  return isJsonObject(thinking) && thinking.type === 'disabled';
}

/**
 * Behind a gateway, as LiteLLM and OpenRouter, these models refuse the same as at DeepSeek. MiMo does so, too:
 * https://github.com/BerriAI/litellm/issues/26395, https://github.com/UKGovernmentBEIS/inspect_ai/pull/4080 and
 * https://github.com/NousResearch/hermes-agent/issues/24443
 */
const NEEDS_ALL_THOUGHTS = /deepseek-(?:v[4-9]|chat|reasoner)|mimo-/i;

/** Gemini signs tool calls since version 3, and then refuses unsigned calls of the current turn. */
const SIGNS_NOTHING = /gemini-[12]\b/i;

/** Google's placeholder for a missing signature: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs */
const PLACEHOLDER = 'skip_thought_signature_validator';
const NO_SIGNATURE = { extra_content: { google: { thought_signature: PLACEHOLDER } } };

/**
 * OpenRouter has the signatures in reasoning details: https://github.com/LibreChat-AI/agents/issues/37,
 * https://github.com/RooCodeInc/Roo-Code/blob/003d9d4520fb38100fd2a188aa06f5821cc52ffb/src/api/providers/openrouter.ts
 */
const SIGNS_CALLS = /^google\/gemini-(?![12]\b)/i;
const NO_SIGNED_DETAIL = {
  type: 'reasoning.encrypted',
  data: PLACEHOLDER,
  format: 'google-gemini-v1',
  index: 0,
};
