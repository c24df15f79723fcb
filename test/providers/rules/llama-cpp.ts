import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';
import {
  beginsWithItsSystemMessage,
  callIdsOf,
  isDevstral,
  isGemma,
  isMistralId,
  isQwen35OrLater,
  rolesOf,
  takesTurns,
  takesTurnsBesideTools,
} from './chat-templates.ts';
import { grammarRule } from './tool-grammar.ts';

const SERVER = 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-common.cpp';
const PARTS = ['text', 'image_url', 'input_audio'];
const GEMMA_COMPLAINT =
  '\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n...% 2 == 0) -%}↵        {{ raise_exception("Conversation roles must alternate user...\n                                           ^\nError: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...';

const QWEN_COMPLAINT =
  "Unable to generate parser for this template. Automatic parser generation failed: \n------------\nWhile executing CallExpression at line 85, column 32 in source:\n...first %}↵            {{- raise_exception('System message must be at the beginnin...\n                                           ^\nError: Jinja Exception: System message must be at the beginning.";

/** The rules of the server of llama.cpp. Those of a chat template hold for the models that have it. */
export const llamaCppRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    grammarRule(invalid),
    {
      name: 'there are messages',
      source: SERVER,
      refusal(body) {
        return Array.isArray(body.messages) ? undefined : invalid("'messages' is required");
      },
    },
    {
      name: 'each message that is not the assistant’s has content',
      source: SERVER,
      refusal(body) {
        const without = objectsIn(body, 'messages').some(
          (message) => message.role !== 'assistant' && !('content' in message),
        );
        return without ? invalid("All non-assistant messages must contain 'content'") : undefined;
      },
    },
    {
      name: 'each message of the assistant has content or tool calls',
      source: SERVER,
      refusal(body) {
        const without = objectsIn(body, 'messages').some(
          (message) => message.role === 'assistant' && !('content' in message) && !('tool_calls' in message),
        );
        return without
          ? invalid("Assistant message must contain either 'content' or 'tool_calls'!")
          : undefined;
      },
    },
    {
      name: 'content has parts of known types only',
      source: SERVER,
      refusal(body) {
        return partsOf(body).every((part) => PARTS.includes(textIn(part, 'type')))
          ? undefined
          : invalid('unsupported content[].type');
      },
    },
    {
      name: 'a model without a projector gets no images',
      source: SERVER,
      refusal(body) {
        return /gpt-oss/i.test(textIn(body, 'model')) &&
          partsOf(body).some((part) => part.type === 'image_url')
          ? failed(
              'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
            )
          : undefined;
      },
    },
    {
      name: 'the list ends with one message of the assistant at most',
      source: SERVER,
      refusal(body) {
        const [last, previous] = rolesOf(body).toReversed();
        return last === 'assistant' && previous === 'assistant'
          ? invalid('Cannot have 2 or more assistant messages at the end of the list.')
          : undefined;
      },
    },
    {
      name: 'a reply that is begun for the model is not thought about',
      source: SERVER,
      refusal(body) {
        const thinks = objectIn(body, 'chat_template_kwargs').enable_thinking === true;
        return thinks && rolesOf(body).at(-1) === 'assistant'
          ? invalid('Assistant response prefill is incompatible with enable_thinking.')
          : undefined;
      },
    },
    {
      name: 'user and assistant take turns for Gemma 3',
      source: 'https://github.com/nextai-translator/raycast-openai-translator/issues/34',
      refusal(body) {
        return isGemma(body) && !rolesOf(body).includes('tool') && !takesTurns(body)
          ? failed(GEMMA_COMPLAINT)
          : undefined;
      },
    },
    {
      name: 'the system message is the first, and the only one, for Qwen 3.5',
      source: 'https://github.com/ggml-org/llama.cpp/issues/20733',
      refusal(body) {
        return isQwen35OrLater(body) && !beginsWithItsSystemMessage(body)
          ? invalid(QWEN_COMPLAINT)
          : undefined;
      },
    },
    {
      name: 'user and assistant take turns for Devstral, beside calls and results',
      source: 'https://github.com/sipeed/picoclaw/issues/207',
      refusal(body) {
        return isDevstral(body) && !takesTurnsBesideTools(body)
          ? failed(
              'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
            )
          : undefined;
      },
    },
    {
      name: 'the id of a tool call is nine letters and digits for models of Mistral',
      source: 'https://github.com/ggml-org/llama.cpp/pull/14349',
      refusal(body) {
        return /mistral|devstral|magistral/i.test(textIn(body, 'model')) &&
          !callIdsOf(body).every(isMistralId)
          ? failed('Tool call IDs should be alphanumeric strings with length 9!')
          : undefined;
      },
    },
  ],
};

function invalid(message: string): Refusal {
  return { status: 400, body: { error: { code: 400, message, type: 'invalid_request_error' } } };
}

/** An exception of the server, as which it tells what a template or a model cannot do. */
function failed(message: string): Refusal {
  return { status: 500, body: { error: { code: 500, message, type: 'server_error' } } };
}

function partsOf(body: JsonObject): readonly JsonObject[] {
  return objectsIn(body, 'messages').flatMap((message) => objectsIn(message, 'content'));
}
