import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';

const OPENAI_ADAPTER = 'https://github.com/ollama/ollama/blob/main/openai/openai.go';
const EFFORTS = ['high', 'medium', 'low', 'none'];

export const ollamaRules: ProviderRules = {
  provider: 'ollama',
  api: 'chat',
  rules: [
    {
      name: 'there is at least one message',
      source: 'https://github.com/ollama/ollama/blob/main/middleware/openai.go',
      refusal(body) {
        return objectsIn(body, 'messages').length === 0
          ? refusedBecause("[] is too short - 'messages'")
          : undefined;
      },
    },
    {
      name: 'the arguments of each past tool call are a JSON object',
      source: OPENAI_ADAPTER,
      refusal(body) {
        const calls = objectsIn(body, 'messages').flatMap((message) => objectsIn(message, 'tool_calls'));
        return calls.every((call) => isObjectText(textIn(objectIn(call, 'function'), 'arguments')))
          ? undefined
          : refusedBecause('invalid tool call arguments');
      },
    },
    {
      name: 'each message has content, or tool calls in its place',
      source: OPENAI_ADAPTER,
      refusal(body) {
        const empty = objectsIn(body, 'messages').some(
          (message) => (message.content ?? null) === null && objectsIn(message, 'tool_calls').length === 0,
        );
        return empty ? refusedBecause('invalid message content type: <nil>') : undefined;
      },
    },
    {
      name: 'content has parts of text and images only',
      source: OPENAI_ADAPTER,
      refusal(body) {
        return partsOf(body).every((part) => ['text', 'image_url'].includes(textIn(part, 'type')))
          ? undefined
          : refusedBecause('invalid message format');
      },
    },
    {
      name: 'an image stands in the request itself, as JPEG, PNG or WebP',
      source: OPENAI_ADAPTER,
      refusal(body) {
        const images = partsOf(body).filter((part) => part.type === 'image_url');
        return images.every((part) => /^data:(image\/(jpeg|jpg|png|webp))?;base64,/.test(addressOf(part)))
          ? undefined
          : refusedBecause('invalid image input');
      },
    },
    {
      name: 'a reasoning effort is high, medium, low or none',
      source: OPENAI_ADAPTER,
      refusal(body) {
        const effort = effortOf(body);
        return effort === '' || EFFORTS.includes(effort)
          ? undefined
          : refusedBecause(
              `invalid reasoning value: '${effort}' (must be "high", "medium", "low", or "none")`,
            );
      },
    },
    {
      name: 'a model with two states of thinking gets no effort between them',
      source: 'https://github.com/ollama/ollama/issues/12561',
      refusal(body) {
        const effort = effortOf(body);
        const asksForDegree = ['high', 'medium', 'low'].includes(effort);
        return textIn(body, 'model') === 'qwen3:4b' && asksForDegree
          ? refusedBecause(`think value "${effort}" is not supported for this model`, 'api_error')
          : undefined;
      },
    },
    {
      name: 'a model without tools gets none',
      source: 'https://github.com/louisho5/picobot/issues/6',
      refusal(body) {
        const model = textIn(body, 'model');
        return model.startsWith('gemma3:') && objectsIn(body, 'tools').length > 0
          ? refusedBecause(`registry.ollama.ai/library/${model} does not support tools`, 'api_error')
          : undefined;
      },
    },
  ],
};

function refusedBecause(message: string, type = 'invalid_request_error'): Refusal {
  return { status: 400, body: { error: { message, type, param: null, code: null } } };
}

function partsOf(body: JsonObject): readonly JsonObject[] {
  return objectsIn(body, 'messages').flatMap((message) => objectsIn(message, 'content'));
}

/** The address of an image, which may stand there bare. */
function addressOf(part: JsonObject): string {
  return textIn(part, 'image_url') || textIn(objectIn(part, 'image_url'), 'url');
}

function effortOf(body: JsonObject): string {
  return textIn(body, 'reasoning_effort') || textIn(objectIn(body, 'reasoning'), 'effort');
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
