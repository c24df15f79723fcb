import type { ProviderRules, Refusal, RequestBody } from '../provider-rules.ts';
import { objectIn, objectsIn, textIn } from './body-fields.ts';
import { patternsIn } from './tool-grammar.ts';

export const deepSeekRules: ProviderRules = {
  provider: 'deepseek',
  api: 'chat',
  rules: [
    {
      name: 'in thinking mode reasoning_content comes back with every reply once there are tools, an empty one too',
      // The guide wants it of turns that call tools; replies of text in them were refused, too.
      source:
        'https://api-docs.deepseek.com/guides/thinking_mode and https://github.com/NousResearch/hermes-agent/pull/15228',
      refusal(body) {
        if (!isThinking(body)) return undefined;
        const messages = objectsIn(body, 'messages');
        const usesTools =
          objectsIn(body, 'tools').length > 0 ||
          messages.some((message) => objectsIn(message, 'tool_calls').length > 0);
        const isMissing = messages.some(
          (message) =>
            textIn(message, 'role') === 'assistant' && typeof message.reasoning_content !== 'string',
        );
        return usesTools && isMissing
          ? refusedBecause('The `reasoning_content` in the thinking mode must be passed back to the API.')
          : undefined;
      },
    },
    {
      name: 'a pattern in the schema of a tool is a regular expression of Rust',
      source: 'https://github.com/zed-industries/zed/issues/64386',
      refusal(body) {
        const pattern = patternsIn(body.tools).find((one) => one.includes('\\0'));
        return pattern === undefined
          ? undefined
          : refusedBecause(`Invalid schema for function 'find': "${pattern}" is not a "regex"`);
      },
    },
    {
      name: 'every tool call has its result right after it',
      source: 'https://github.com/TurixAI/TuriX-CUA/issues/15',
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const hasUnanswered = messages.some((message, position) => {
          const answered = new Set<string>();
          for (const result of messages.slice(position + 1)) {
            if (textIn(result, 'role') !== 'tool') break;
            answered.add(textIn(result, 'tool_call_id'));
          }
          return objectsIn(message, 'tool_calls').some((call) => !answered.has(textIn(call, 'id')));
        });
        return hasUnanswered
          ? refusedBecause(
              "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
            )
          : undefined;
      },
    },
    {
      name: 'a tool message follows a message with tool calls',
      source: 'https://github.com/qwersyk/Newelle/issues/425',
      refusal(body) {
        let isAfterCalls = false;
        for (const message of objectsIn(body, 'messages')) {
          if (textIn(message, 'role') !== 'tool') {
            isAfterCalls = objectsIn(message, 'tool_calls').length > 0;
          } else if (!isAfterCalls) {
            return refusedBecause(
              "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
            );
          }
        }
        return undefined;
      },
    },
  ],
};

/** At its address for the interface of Anthropic. */
export const deepSeekMessagesRules: ProviderRules = {
  provider: 'deepseek',
  api: 'messages',
  rules: [
    {
      name: 'in thinking mode every reply comes back with its thinking, an empty one too',
      source:
        'https://github.com/NousResearch/hermes-agent/pull/16149 and https://github.com/leookun/cursor-byok/pull/276',
      refusal(body) {
        const isMissing = objectsIn(body, 'messages').some(
          (message) =>
            textIn(message, 'role') === 'assistant' &&
            !objectsIn(message, 'content').some((block) => typeof block.thinking === 'string'),
        );
        return isThinking(body) && isMissing
          ? refusedBecause('The `content[].thinking` in the thinking mode must be passed back to the API.')
          : undefined;
      },
    },
  ],
};

/** Thinking is on by default; only the old name `deepseek-chat` stands for a model that does not think. */
function isThinking(body: RequestBody): boolean {
  const mode = textIn(objectIn(body, 'thinking'), 'type');
  return mode === 'enabled' || (mode !== 'disabled' && textIn(body, 'model') !== 'deepseek-chat');
}

function refusedBecause(message: string): Refusal {
  return {
    status: 400,
    body: {
      error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' },
    },
  };
}
