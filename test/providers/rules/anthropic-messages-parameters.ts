import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';

const MIN_THINKING_TOKENS = 1024;

/** How many tokens a model writes at most. */
const OUTPUT_LIMITS = new Map([['claude-3-5-sonnet-20240620', 4096]]);

const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** All fields of a request, with those of earlier versions and of betas. */
const KNOWN_FIELDS = new Set([
  ...SAMPLING,
  'betas',
  'billing_policy',
  'cache_control',
  'compaction',
  'container',
  'context_management',
  'diagnostics',
  'fallback_credit_token',
  'fallbacks',
  'inference_geo',
  'max_tokens',
  'mcp_servers',
  'messages',
  'metadata',
  'model',
  'output_config',
  'output_format',
  'service_tier',
  'speed',
  'stop_sequences',
  'stream',
  'system',
  'thinking',
  'thread',
  'tool_choice',
  'tools',
  'user_profile_id',
  'workspace_id',
]);

/** What the Messages API demands of the parameters of a request and of the thoughts that come back to it. */
export const anthropicMessagesParametersRules: ProviderRules = {
  provider: 'anthropic',
  api: 'messages',
  rules: [
    {
      name: 'the request says how many tokens it wants at most',
      source: 'https://github.com/tickernelz/opencode-mem/issues/50',
      refusal: (body) => (body.max_tokens === undefined ? refused('max_tokens: Field required') : undefined),
    },
    {
      name: 'the request wants no more tokens than the model writes',
      source: 'https://github.com/ChatGPTNextWeb/NextChat/issues/4964',
      refusal(body) {
        const model = textIn(body, 'model');
        const limit = OUTPUT_LIMITS.get(model) ?? Number.POSITIVE_INFINITY;
        const wanted = numberIn(body, 'max_tokens');
        return wanted <= limit
          ? undefined
          : refused(
              `max_tokens: ${wanted} > ${limit}, which is the maximum allowed number of output tokens for ${model}`,
            );
      },
    },
    {
      name: 'the request has no sampling parameters since version 2026-10-21',
      source: 'https://platform.claude.com/docs/en/api/versioning?version=2026-10-21',
      refusal(body) {
        const field = SAMPLING.find((one) => body[one] !== undefined);
        return field === undefined ? undefined : refused(`${field}: Extra inputs are not permitted`);
      },
    },
    {
      name: 'the request has no field that the API does not know',
      source: 'https://github.com/amrit110/oli/issues/7',
      refusal(body) {
        const field = Object.keys(body).find((one) => !KNOWN_FIELDS.has(one));
        return field === undefined ? undefined : refused(`${field}: Extra inputs are not permitted`);
      },
    },
    {
      name: 'a model that thinks has the temperature 1',
      source: 'https://github.com/MayDay-wpf/snow-app/issues/42',
      refusal(body) {
        const temperature = body.temperature ?? 1;
        return temperature === 1 || !['enabled', 'adaptive'].includes(thinking(body))
          ? undefined
          : refused('`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.');
      },
    },
    {
      name: 'a model thinks with at least 1024 tokens',
      source: 'https://github.com/themaximalist/llm.js/issues/30',
      refusal(body) {
        return thinking(body) === 'enabled' && budget(body) < MIN_THINKING_TOKENS
          ? refused('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
          : undefined;
      },
    },
    {
      name: 'a model thinks with fewer tokens than it writes',
      source: 'https://github.com/liuw1535/antigravity2api-nodejs/issues/150',
      refusal(body) {
        return thinking(body) === 'enabled' && budget(body) >= numberIn(body, 'max_tokens')
          ? refused(
              '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at ' +
                'https://docs.claude.com/en/docs/build-with-claude/extended-thinking' +
                '#max-tokens-and-context-window-size',
            )
          : undefined;
      },
    },
    {
      name: 'a model since Claude Opus 4.7 has no budget for its thoughts',
      source: 'https://github.com/Kilo-Org/kilocode/issues/10729',
      refusal(body) {
        const isNew = /^claude-(opus-4-[7-9]|(opus|sonnet|haiku)-[5-9])(?!\d)/.test(textIn(body, 'model'));
        return isNew && thinking(body) === 'enabled'
          ? refused(
              '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ' +
                '"output_config.effort" to control thinking behavior.',
            )
          : undefined;
      },
    },
    {
      name: 'a model that thinks is not forced to call a tool',
      source: 'https://github.com/mastra-ai/mastra/issues/7507',
      refusal(body) {
        const forced = ['any', 'tool'].includes(textIn(objectIn(body, 'tool_choice'), 'type'));
        return forced && thinking(body) === 'enabled'
          ? refused('Thinking may not be enabled when tool_choice forces tool use.')
          : undefined;
      },
    },
    {
      name: 'a message that calls tools begins with its thought while the model thinks',
      source: 'https://github.com/openai/openai-agents-python/issues/1704',
      refusal(body) {
        const { at, blocks } = lastOfAssistant(body);
        const first = textIn(blocks[0] ?? {}, 'type');
        return thinking(body) !== 'enabled' || !blocks.some(isCall) || isThoughtType(first)
          ? undefined
          : refused(
              `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found ` +
                `\`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a ` +
                'thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We ' +
                'recommend you include thinking blocks from previous turns. To avoid this requirement, ' +
                'disable `thinking`. Please consult our documentation at ' +
                'https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking',
            );
      },
    },
    {
      name: 'a message has no thought while the model must not think',
      source: 'https://github.com/Kilo-Org/kilocode/pull/4631',
      refusal(body) {
        const { blocks } = lastOfAssistant(body);
        return thinking(body) === 'disabled' && blocks.some((block) => block.type === 'thinking')
          ? refused(
              "When thinking is disabled, an 'assistant' message in the final position cannot contain " +
                "'thinking'. To use thinking blocks, enable 'thinking' in your request.",
            )
          : undefined;
      },
    },
    {
      name: 'a thought comes back with its signature',
      source: 'https://github.com/JohnnyZ93/oai-compatible-copilot/issues/217',
      refusal(body) {
        const place = thoughts(body).find(({ block }) => block.signature === undefined)?.place;
        return place === undefined ? undefined : refused(`${place}.thinking.signature: Field required`);
      },
    },
    {
      name: 'the signature of a thought is the one that came with it',
      source: 'https://github.com/ding113/claude-code-hub/issues/518',
      refusal(body) {
        const place = thoughts(body).find(({ block }) => block.signature === '')?.place;
        return place === undefined
          ? undefined
          : refused(`${place}: Invalid \`signature\` in \`thinking\` block`);
      },
    },
  ],
};

function refused(message: string): Refusal {
  return {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_011CVyV9rQtBz4NdSc3KuWfT',
    },
  };
}

function numberIn(fields: JsonObject, name: string): number {
  const value = fields[name];
  return typeof value === 'number' ? value : 0;
}

/** The type of thinking that the request asks for; the empty string when it does not say. */
function thinking(body: JsonObject): string {
  return textIn(objectIn(body, 'thinking'), 'type');
}

function budget(body: JsonObject): number {
  return numberIn(objectIn(body, 'thinking'), 'budget_tokens');
}

function isCall(block: JsonObject): boolean {
  return block.type === 'tool_use';
}

function isThoughtType(type: string): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** The last message of the assistant, unless the user has said something since. */
function lastOfAssistant(body: JsonObject): { readonly at: number; readonly blocks: readonly JsonObject[] } {
  const messages = objectsIn(body, 'messages');
  const at = messages.findLastIndex((message) => message.role === 'assistant');
  const since = messages.slice(at + 1);
  const isOpen = since.every((message) =>
    objectsIn(message, 'content').some((block) => block.type === 'tool_result'),
  );
  return { at, blocks: isOpen ? objectsIn(messages[at] ?? {}, 'content') : [] };
}

function thoughts(body: JsonObject): readonly { readonly place: string; readonly block: JsonObject }[] {
  return objectsIn(body, 'messages').flatMap((message, at) =>
    objectsIn(message, 'content').flatMap((block, position) =>
      block.type === 'thinking' ? [{ place: `messages.${at}.content.${position}`, block }] : [],
    ),
  );
}
