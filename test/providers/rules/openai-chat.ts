import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { firstOf, objectIn, placedIn, textIn } from './body-fields.ts';

/** OpenAI's refusal of a request that it understands and does not like. */
function refuse(message: string, param: string | null, code: string | null): Refusal {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

/** Models that think before they answer. */
function thinks(model: string): boolean {
  return /^(o[134]|gpt-[56])/.test(model) && !/-chat/.test(model);
}

/** Models whose thoughts cannot be switched off by leaving out the effort. */
function alwaysThinks(model: string): boolean {
  return /^gpt-5\.[56]/.test(model);
}

/** Models that may call tools over chat completions only when they do not think. */
function thinksOrCalls(model: string): boolean {
  return /^gpt-5\.[456]/.test(model);
}

/** Models of text only. */
function cannotSee(model: string): boolean {
  return /^(gpt-3\.5|o1-mini|o1-preview|o3-mini)/.test(model);
}

/** The fields of a request that chat completions know. */
const KNOWN = new Set(
  `audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages
   metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key
   prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
   stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity
   web_search_options`.split(/\s+/),
);

/** What OpenAI refuses over chat completions, about settings, messages and images. */
export const openaiChatRules: ProviderRules = {
  provider: 'openai',
  api: 'chat',
  rules: [
    {
      name: 'a request has no field that the provider does not know',
      source: 'https://github.com/nashsu/llm_wiki/issues/336',
      refusal(body) {
        const unknown = Object.keys(body).find((field) => !KNOWN.has(field));
        if (unknown === undefined) return undefined;
        return refuse(`Unrecognized request argument supplied: ${unknown}`, null, null);
      },
    },
    {
      name: 'only a reasoning model is told an effort',
      source: 'https://github.com/davidmigloz/langchain_dart/issues/712',
      refusal(body) {
        if (typeof body.reasoning_effort !== 'string' || thinks(textIn(body, 'model'))) return undefined;
        return refuse('Unrecognized request argument supplied: reasoning_effort', null, null);
      },
    },
    {
      name: 'a reasoning model is given max_completion_tokens instead of max_tokens',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/chat/__fixtures__/reasoning-model-legacy-parameter-error.json',
      refusal(body) {
        if (typeof body.max_tokens !== 'number' || !thinks(textIn(body, 'model'))) return undefined;
        return refuse(
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          'max_tokens',
          'unsupported_parameter',
        );
      },
    },
    {
      name: 'a reasoning model keeps its own temperature',
      source: 'https://github.com/diffbot/code-gpt-docs/issues/445',
      refusal(body) {
        const { temperature } = body;
        const free = body.reasoning_effort === 'none' || !thinks(textIn(body, 'model'));
        if (typeof temperature !== 'number' || temperature === 1 || free) return undefined;
        return refuse(
          `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`,
          'temperature',
          'unsupported_value',
        );
      },
    },
    {
      name: 'gpt-5.4 and later get tools only with the effort none',
      source: 'https://github.com/BerriAI/litellm/pull/34569',
      refusal(body) {
        const model = textIn(body, 'model');
        const effort = textIn(body, 'reasoning_effort');
        const silent = effort === 'none' || (effort === '' && !alwaysThinks(model));
        if (placedIn(body, 'tools').length === 0 || !thinksOrCalls(model) || silent) return undefined;
        return refuse(
          `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
          'reasoning_effort',
          null,
        );
      },
    },
    {
      name: 'every tool call has a result right after it',
      source: 'https://github.com/pipecat-ai/pipecat/issues/309',
      refusal(body) {
        const messages = placedIn(body, 'messages');
        return firstOf(messages, ({ place, one }) => {
          const open = new Set(placedIn(one, 'tool_calls').map((call) => textIn(call.one, 'id')));
          for (const next of messages.slice(messages.findIndex((other) => other.place === place) + 1)) {
            if (next.one.role !== 'tool') break;
            open.delete(textIn(next.one, 'tool_call_id'));
          }
          if (open.size === 0) return undefined;
          return refuse(
            `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
            `messages.[${place + 1}].role`,
            null,
          );
        });
      },
    },
    {
      name: 'every tool result follows its call',
      source: 'https://github.com/smarter-sh/smarter/issues/264',
      refusal(body) {
        let open = new Set<string>();
        return firstOf(placedIn(body, 'messages'), ({ place, one }) => {
          if (one.role !== 'tool') {
            open = new Set(placedIn(one, 'tool_calls').map((call) => textIn(call.one, 'id')));
            return undefined;
          }
          if (open.has(textIn(one, 'tool_call_id'))) return undefined;
          return refuse(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            `messages.[${place}].role`,
            null,
          );
        });
      },
    },
    {
      name: 'the id of a tool call has at most 40 characters',
      source: 'https://github.com/agno-agi/agno/issues/5382',
      refusal(body) {
        return firstOf(placedIn(body, 'messages'), (message) =>
          firstOf(placedIn(message.one, 'tool_calls'), (call) => {
            const { length } = textIn(call.one, 'id');
            if (length <= 40) return undefined;
            const param = `messages[${message.place}].tool_calls[${call.place}].id`;
            return refuse(
              `Invalid '${param}': string too long. Expected a string with maximum length 40, but got a string with length ${length} instead.`,
              param,
              'string_above_max_length',
            );
          }),
        );
      },
    },
    {
      name: 'a call in the history is named like a tool',
      source: 'https://github.com/mcp-use/mcp-use/issues/90',
      refusal(body) {
        return firstOf(placedIn(body, 'messages'), (message) =>
          firstOf(placedIn(message.one, 'tool_calls'), (call) => {
            const name = textIn(objectIn(call.one, 'function'), 'name');
            if (/^[a-zA-Z0-9_-]+$/.test(name)) return undefined;
            const param = `messages[${message.place}].tool_calls[${call.place}].function.name`;
            return refuse(
              `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
              param,
              'invalid_value',
            );
          }),
        );
      },
    },
    {
      name: 'only a model that can see is shown an image',
      source: 'https://github.com/vllm-project/vllm/issues/11629',
      refusal(body) {
        if (!cannotSee(textIn(body, 'model'))) return undefined;
        return firstOf(placedIn(body, 'messages'), (message) =>
          firstOf(placedIn(message.one, 'content'), (part) => {
            if (part.one.type !== 'image_url') return undefined;
            return refuse(
              'Invalid content type. image_url is only supported by certain models.',
              `messages.[${message.place}].content.[${part.place}].type`,
              null,
            );
          }),
        );
      },
    },
    {
      name: 'an image is an object with its address',
      source: 'https://github.com/if-ai/ComfyUI-IF_AI_tools/issues/101',
      refusal(body) {
        return firstOf(placedIn(body, 'messages'), (message) =>
          firstOf(placedIn(message.one, 'content'), (part) => {
            if (part.one.type !== 'image_url' || typeof part.one.image_url !== 'string') return undefined;
            const param = `messages[${message.place}].content[${part.place}].image_url`;
            return refuse(
              `Invalid type for '${param}': expected an object, but got a string instead.`,
              param,
              'invalid_type',
            );
          }),
        );
      },
    },
  ],
};
