import type { ProviderRules, Refusal, RequestBody } from '../provider-rules.ts';
import { isJsonObject, type JsonObject, objectsIn, textIn } from './body-fields.ts';

/** What Claude, up to 4.5, refuses through LiteLLM. Its thinking stands in `thinking_blocks`, its budget in the effort. */
export const liteLlmRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'a turn with calls begins with a thought while Claude thinks',
      source: 'https://github.com/anomalyco/opencode/issues/3077',
      refusal(body) {
        const { at, message } = beginOfTurn(body);
        const calls = objectsIn(message, 'tool_calls').length > 0;
        return !isThinking(body) || !calls || thoughts(message).length > 0
          ? undefined
          : refused(
              `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. ` +
                'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding ' +
                'the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks ' +
                'from previous turns. To avoid this requirement, disable `thinking`.',
            );
      },
    },
    {
      name: 'a message has no thought while Claude must not think',
      source: 'https://github.com/BerriAI/litellm/issues/18926',
      refusal(body) {
        const { at, message } = beginOfTurn(body);
        return isThinking(body) || thoughts(message).length === 0
          ? undefined
          : refused(
              `messages.${at}.content.0: When thinking is disabled, an \`assistant\` message in the final position ` +
                'cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.',
            );
      },
    },
    {
      name: 'a thought comes back with its signature',
      source: 'https://github.com/JohnnyZ93/oai-compatible-copilot/issues/217',
      refusal(body) {
        const all = objectsIn(body, 'messages').flatMap(thoughts);
        return all.some((block) => block.type === 'thinking' && textIn(block, 'signature') === '')
          ? refused('messages.1.content.0.thinking.signature: Field required')
          : undefined;
      },
    },
    {
      name: 'Claude that thinks is not forced to call a tool',
      source: 'https://github.com/mastra-ai/mastra/issues/7507',
      refusal(body) {
        const isForced = body.tool_choice === 'required' || isJsonObject(body.tool_choice);
        return isForced && isThinking(body)
          ? refused('Thinking may not be enabled when tool_choice forces tool use.')
          : undefined;
      },
    },
  ],
};

/** Gemini 3 behind LiteLLM, which agents also reach as `openai` with a base URL. Its calls are signed in their ids. */
export const liteLlmGeminiRules: ProviderRules = {
  provider: 'openai',
  api: 'chat',
  rules: [
    {
      name: 'a call of Gemini comes back with its signature, and so does its result',
      source: 'https://github.com/BerriAI/litellm/pull/16895',
      refusal(body) {
        const ids = objectsIn(body, 'messages').flatMap((message) => [
          ...objectsIn(message, 'tool_calls').map((call) => textIn(call, 'id')),
          textIn(message, 'tool_call_id'),
        ]);
        return ids.some((id) => id.startsWith(GEMINI_CALL) && !id.includes('__thought__'))
          ? refused('Function call is missing a thought_signature in functionCall parts.')
          : undefined;
      },
    },
  ],
};

/** How the ids of the fake begin. */
export const GEMINI_CALL = 'call_gemini_';

function isThinking(body: RequestBody): boolean {
  const effort = textIn(body, 'reasoning_effort');
  return effort !== '' && effort !== 'none';
}

/** What the assistant has said first since the user spoke; nothing after a message of the user. */
function beginOfTurn(body: RequestBody): { readonly at: number; readonly message: JsonObject } {
  const messages = objectsIn(body, 'messages').filter(({ role }) => role !== 'system');
  const at = messages.findLastIndex(({ role }) => role === 'user') + 1;
  return { at, message: messages[at] ?? {} };
}

function thoughts(message: JsonObject): readonly JsonObject[] {
  return objectsIn(message, 'thinking_blocks');
}

/** LiteLLM puts the error of Anthropic into the sentence of its own. */
function refused(message: string): Refusal {
  const inner = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
  return {
    status: 400,
    body: {
      error: {
        message: `litellm.BadRequestError: AnthropicException - ${inner}. Received Model Group=claude-sonnet-4-5`,
        type: null,
        param: null,
        code: '400',
      },
    },
  };
}
