import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { hasOpenList, type JsonObject, objectIn, objectsIn, textIn, valuesOf } from './body-fields.ts';

/** Fields that people saw refused. */
const UNKNOWN_FIELDS = ['store', 'metadata', 'frequency_penalty', 'reasoning', 'top_k', 'google'];

/** What Gemini demands over OpenAI's chat completions. */
export const googleChatRules: ProviderRules = {
  provider: 'google',
  api: 'chat',
  rules: [
    {
      name: 'the request names a model',
      source: 'https://github.com/scottstirling/pi2llm',
      refusal: (body) => (textIn(body, 'model') === '' ? refused('model is not specified') : undefined),
    },
    {
      name: 'the request has no field that Gemini does not know',
      source: 'https://github.com/liliMozi/openhanako/issues/394',
      refusal(body) {
        const unknown = UNKNOWN_FIELDS.filter((field) => body[field] !== undefined).map(
          (field) => `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`,
        );
        return unknown.length === 0 ? undefined : invalidPayload(unknown);
      },
    },
    {
      name: 'somebody says something',
      source: 'https://github.com/vercel/ai/issues/3775',
      refusal: (body) =>
        contents(body).length === 0
          ? refused('* GenerateContentRequest.contents: contents is not specified\n')
          : undefined,
    },
    {
      name: 'no message is empty',
      source: 'https://github.com/egoist/chatwise-releases/issues/250',
      refusal(body) {
        const position = contents(body).findIndex(
          (message) =>
            message.role !== 'tool' &&
            isEmpty(message.content) &&
            objectsIn(message, 'tool_calls').length === 0,
        );
        return position < 0
          ? undefined
          : refused(
              `* GenerateContentRequest.contents[${position}].parts: contents.parts must not be empty.\n`,
            );
      },
    },
    {
      name: 'a message of the assistant has no refusal that is null',
      source:
        'https://discuss.ai.google.dev/t/openai-compatibility-api-does-not-support-message-refusal-field-set-to-null/100010',
      refusal: (body) =>
        contents(body).some((message) => message.refusal === null)
          ? refused('Value is not a string: null')
          : undefined,
    },
    {
      name: 'the first call of a message brings back the signature of Gemini 3',
      source: 'https://github.com/manthanabc/paws/issues/103',
      refusal(body) {
        const messages = contents(body);
        const current = messages.findLastIndex((message) => message.role === 'user');
        const position = messages.findIndex((message, at) => at > current && isUnsigned(message));
        return position < 0 || !textIn(body, 'model').includes('gemini-3')
          ? undefined
          : refused(
              'Function call is missing a thought_signature in functionCall parts. This is required for tools ' +
                'to work correctly, and missing thought_signature may lead to degraded model performance. ' +
                `Additional data, function call \`default_api:${calledFirst(messages[position])}\` , position ` +
                `${position + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures ` +
                'for more details.',
            );
      },
    },
    {
      name: 'each call has one result',
      source: 'https://github.com/google-gemini/gemini-cli/issues/16543',
      refusal(body) {
        const messages = contents(body);
        const differs = messages.some((message, at) => {
          const calls = objectsIn(message, 'tool_calls').length;
          return calls > 0 && at < messages.length - 1 && resultsAfter(messages, at) !== calls;
        });
        return differs
          ? refused(
              'Please ensure that the number of function response parts is equal to the number of function ' +
                'call parts of the function call turn.',
            )
          : undefined;
      },
    },
    {
      name: 'calls follow the words of the user or a result',
      source: 'https://github.com/continuedev/continue/issues/11164',
      refusal(body) {
        const messages = contents(body);
        const isLost = messages.some((message, at) => {
          const before = textIn(messages[at - 1] ?? {}, 'role');
          return objectsIn(message, 'tool_calls').length > 0 && before !== 'user' && before !== 'tool';
        });
        return isLost
          ? refused(
              'Please ensure that function call turn comes immediately after a user turn or after a function ' +
                'response turn.',
            )
          : undefined;
      },
    },
    {
      name: 'a result names its tool',
      source: 'https://github.com/vectorize-io/hindsight/pull/187',
      refusal(body) {
        const position = contents(body).findIndex(
          (message) => message.role === 'tool' && textIn(message, 'name') === '',
        );
        return position < 0
          ? undefined
          : refused(
              `* GenerateContentRequest.contents[${position}].parts[0].function_response.name: ` +
                'Name cannot be empty.\n',
            );
      },
    },
    {
      name: 'the name of a tool begins with a letter or an underscore',
      source: 'https://github.com/microsoft/vscode-copilot-release/issues/7928',
      refusal(body) {
        const position = functions(body).findIndex(
          (one) => !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(textIn(one, 'name')),
        );
        return position < 0
          ? undefined
          : refused(
              `* GenerateContentRequest.tools[0].function_declarations[${position}].name: Invalid function ` +
                'name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), ' +
                'underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n',
            );
      },
    },
    {
      name: 'a list in the schema of a tool says what its items are',
      source: 'https://github.com/TokenRhythm/opensquilla/issues/1263',
      refusal(body) {
        const position = functions(body).findIndex((one) => hasOpenList(objectIn(one, 'parameters')));
        return position < 0
          ? undefined
          : refused(
              `* GenerateContentRequest.tools[0].function_declarations[${position}].parameters` +
                '.properties[rows].items.items: missing field.\n',
            );
      },
    },
    {
      name: 'the schema of a tool has no keyword that Gemini does not know',
      source:
        'https://github.com/QwenLM/qwen-code/issues/1186, https://github.com/memodb-io/Acontext/issues/107, ' +
        'https://github.com/pizza-bot-app/pizza-bot/issues/62 and ' +
        'https://github.com/glowingjade/obsidian-smart-composer/issues/455',
      refusal(body) {
        const unknown = functions(body).flatMap((one, position) =>
          UNKNOWN_KEYWORDS.filter((keyword) => hasKeyword(objectIn(one, 'parameters'), keyword)).map(
            (keyword) =>
              `Invalid JSON payload received. Unknown name "${keyword}" at ` +
              `'tools[0].function_declarations[${position}].parameters': Cannot find field.`,
          ),
        );
        return unknown.length === 0 ? undefined : invalidPayload(unknown);
      },
    },
    {
      name: 'the schema of a reply has no keyword that Gemini does not know, and no list of types',
      source:
        'https://github.com/QuantumNous/new-api/pull/1037, https://github.com/mathpn/llm-docsmith/issues/4 and ' +
        'https://github.com/prism-php/prism/issues/974',
      refusal(body) {
        const schema = objectIn(objectIn(body, 'response_format'), 'json_schema').schema;
        const unknown = UNKNOWN_KEYWORDS.filter((keyword) => hasKeyword(schema, keyword)).map(
          (keyword) =>
            `Invalid JSON payload received. Unknown name "${keyword}" at 'generation_config.response_schema': Cannot find field.`,
        );
        const lists = valuesOf(schema, 'type')
          .filter(Array.isArray)
          .map(
            () =>
              'Invalid JSON payload received. Unknown name "type" at \'generation_config.response_schema\': ' +
              'Proto field is not repeating, cannot start list.',
          );
        return unknown.length + lists.length === 0 ? undefined : invalidPayload([...unknown, ...lists]);
      },
    },
    {
      name: 'each property of a tool has a type, or alternatives',
      source:
        'https://github.com/danny-avila/LibreChat/issues/6971 and https://github.com/NousResearch/hermes-agent/pull/89673',
      refusal(body) {
        const found = functions(body).flatMap((one, position) =>
          Object.entries(objectIn(objectIn(one, 'parameters'), 'properties'))
            .filter(([, schema]) => !hasKeyword(schema, 'type'))
            .map(([name]) => `function_declarations[${position}].parameters.properties[${name}]`),
        );
        return found.length === 0
          ? undefined
          : refused(
              `* GenerateContentRequest.tools[0].${found[0]}.type: must be specified when not using one_of, ` +
                'any_of or all_of fields\n',
            );
      },
    },
  ],
};

const UNKNOWN_KEYWORDS = [
  '$schema',
  '$ref',
  '$defs',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'additionalProperties',
];

function hasKeyword(schema: unknown, keyword: string): boolean {
  return valuesOf(schema, keyword).length > 0;
}

/** Gemini sends its errors in an array. */
function refused(message: string, more: object = {}): Refusal {
  return { status: 400, body: [{ error: { code: 400, message, status: 'INVALID_ARGUMENT', ...more } }] };
}

function invalidPayload(descriptions: readonly string[]): Refusal {
  return refused(descriptions.join('\n'), {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: descriptions.map((description) => ({ description })),
      },
    ],
  });
}

/** The messages that Gemini takes as contents: all but its instructions. */
function contents(body: JsonObject): readonly JsonObject[] {
  return objectsIn(body, 'messages').filter(
    (message) => message.role !== 'system' && message.role !== 'developer',
  );
}

function functions(body: JsonObject): readonly JsonObject[] {
  return objectsIn(body, 'tools').map((tool) => objectIn(tool, 'function'));
}

function isEmpty(content: unknown): boolean {
  return content === undefined || content === null || content === '' || isEmptyList(content);
}

function isEmptyList(content: unknown): boolean {
  return Array.isArray(content) && content.length === 0;
}

/** The calls of a message are parallel, so only the first one is signed. */
function isUnsigned(message: JsonObject): boolean {
  const first = objectsIn(message, 'tool_calls')[0];
  return (
    first !== undefined &&
    textIn(objectIn(objectIn(first, 'extra_content'), 'google'), 'thought_signature') === ''
  );
}

function calledFirst(message: JsonObject | undefined): string {
  return textIn(objectIn(objectsIn(message ?? {}, 'tool_calls')[0] ?? {}, 'function'), 'name');
}

function resultsAfter(messages: readonly JsonObject[], at: number): number {
  const after = messages.slice(at + 1);
  const end = after.findIndex((message) => message.role !== 'tool');
  return end < 0 ? after.length : end;
}
