import type { ProviderRules, Refusal } from '../provider-rules.ts';
import { isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';

const FIXTURES = 'https://github.com/vercel/ai/blob/main/packages/anthropic/src/__fixtures__';
const MAX_NAME_LENGTH = 128;
const SCHEMA_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** What the Messages API demands of tools, calls and results. */
export const anthropicMessagesToolsRules: ProviderRules = {
  provider: 'anthropic',
  api: 'messages',
  rules: [
    {
      name: 'the message after a call begins with its result',
      source: `${FIXTURES}/anthropic-parallel-provider-client-tools.error.json`,
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const open = messages.map((message, at) => {
          const answered = leadingResults(messages[at + 1]);
          return callIds(message).filter((id) => !answered.has(id));
        });
        const position = open.findIndex((ids) => ids.length > 0);
        return position < 0
          ? undefined
          : refused(
              `messages.${position}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
                `after: ${open[position]?.join(', ')}. Each \`tool_use\` block must have a corresponding ` +
                '`tool_result` block in the next message.',
            );
      },
    },
    {
      name: 'a result belongs to a call of the message before',
      source: `${FIXTURES}/anthropic-issue-21832-unexpected-tool-use-id.json`,
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const lost = places(messages, 'tool_result').find(
          ({ at, block }) => !callIds(messages[at - 1]).includes(textIn(block, 'tool_use_id')),
        );
        return lost === undefined
          ? undefined
          : refused(
              `${lost.place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ` +
                `${textIn(lost.block, 'tool_use_id')}. Each \`tool_result\` block must have a corresponding ` +
                '`tool_use` block in the previous message.',
            );
      },
    },
    {
      name: 'the calls of a message have ids of their own',
      source: 'https://github.com/trycua/cua/issues/524',
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const repeated = places(messages, 'tool_use').find(({ at, position, block }) =>
          callIds(messages[at], position).includes(textIn(block, 'id')),
        );
        return repeated === undefined
          ? undefined
          : refused(`${repeated.place}: \`tool_use\` ids must be unique`);
      },
    },
    {
      name: 'the id of a call has only letters, digits, underscores and dashes',
      source: 'https://github.com/maximhq/bifrost/issues/5097',
      refusal(body) {
        const odd = places(objectsIn(body, 'messages'), 'tool_use').find(
          ({ block }) => !/^[a-zA-Z0-9_-]+$/.test(textIn(block, 'id')),
        );
        return odd === undefined
          ? undefined
          : refused(`${odd.place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      },
    },
    {
      name: 'a request with calls defines tools',
      source: 'https://fixgraph.netlify.app/issue/gh-anthropics-anthropic-sdk-python-494',
      refusal(body) {
        const messages = objectsIn(body, 'messages');
        const used = [...places(messages, 'tool_use'), ...places(messages, 'tool_result')];
        return used.length === 0 || objectsIn(body, 'tools').length > 0
          ? undefined
          : refused('Requests which include `tool_use` or `tool_result` blocks must define tools.');
      },
    },
    {
      name: 'the name of a tool is not too long',
      source: 'https://github.com/anthropics/claude-code/issues/96152',
      refusal: (body) =>
        ofTools(body, (tool, place) =>
          textIn(tool, 'name').length > MAX_NAME_LENGTH
            ? refused(`${place}.name: String should have at most 128 characters`)
            : undefined,
        ),
    },
    {
      name: 'the name of a tool has only letters, digits, underscores and dashes',
      source: 'https://github.com/home-assistant/core/issues/147760',
      refusal: (body) =>
        ofTools(body, (tool, place) =>
          /^[a-zA-Z0-9_-]{1,128}$/.test(textIn(tool, 'name'))
            ? undefined
            : refused(`${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`),
        ),
    },
    {
      name: 'tools have names of their own',
      source: 'https://github.com/danny-avila/LibreChat/issues/13162',
      refusal(body) {
        const names = objectsIn(body, 'tools').map((tool) => textIn(tool, 'name'));
        return new Set(names).size === names.length
          ? undefined
          : refused('tools: Tool names must be unique.');
      },
    },
    {
      name: 'the schema of a tool has a type',
      source: `${FIXTURES}/anthropic-root-union-tool-schema-error.json`,
      refusal: (body) =>
        ofTools(body, (tool, place) =>
          objectIn(tool, 'input_schema').type === undefined
            ? refused(`${place}.input_schema.type: Field required`)
            : undefined,
        ),
    },
    {
      name: 'the schema of a tool is no choice between schemas',
      source: 'https://github.com/anthropics/claude-code/issues/40075',
      refusal: (body) =>
        ofTools(body, (tool, place) => {
          const schema = objectIn(tool, 'input_schema');
          return ['oneOf', 'allOf', 'anyOf'].some((keyword) => schema[keyword] !== undefined)
            ? refused(
                `${place}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
              )
            : undefined;
        }),
    },
    {
      name: 'the keys of a schema have at most 64 letters, digits, underscores, dots and dashes',
      source: 'https://github.com/Gitlawb/openclaude/issues/714',
      refusal: (body) =>
        ofTools(body, (tool, place) => {
          const keys = Object.keys(objectIn(objectIn(tool, 'input_schema'), 'properties'));
          return keys.every((key) => /^[a-zA-Z0-9_.-]{1,64}$/.test(key))
            ? undefined
            : refused(
                `${place}.input_schema.properties: ` +
                  "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
              );
        }),
    },
    {
      name: 'the schema of a tool is valid by draft 2020-12',
      source: 'https://github.com/anthropics/claude-code/issues/86664',
      refusal: (body) =>
        ofTools(body, (tool, place) =>
          isOfDraft2020(objectIn(tool, 'input_schema'))
            ? undefined
            : refused(
                `${place}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 ` +
                  '(https://json-schema.org/draft/2020-12). Learn more about tool use at ' +
                  'https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview.',
              ),
        ),
    },
  ],
};

interface Place {
  /** The position of the message. */
  readonly at: number;
  /** The position of the block in the message. */
  readonly position: number;
  readonly place: string;
  readonly block: JsonObject;
}

function refused(message: string): Refusal {
  return {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_011CVyU7pNsZx2McQb8JtTdR',
    },
  };
}

function places(messages: readonly JsonObject[], type: string): readonly Place[] {
  return messages.flatMap((message, at) =>
    objectsIn(message, 'content').flatMap((block, position) =>
      block.type === type ? [{ at, position, place: `messages.${at}.content.${position}`, block }] : [],
    ),
  );
}

/** The ids of the calls of a message, up to a block of it. */
function callIds(message: JsonObject | undefined, before?: number): readonly string[] {
  return objectsIn(message ?? {}, 'content')
    .slice(0, before)
    .filter((block) => block.type === 'tool_use')
    .map((block) => textIn(block, 'id'));
}

/** The calls that a message answers before it says anything else. */
function leadingResults(message: JsonObject | undefined): ReadonlySet<string> {
  const blocks = message?.role === 'user' ? objectsIn(message, 'content') : [];
  const end = blocks.findIndex((block) => block.type !== 'tool_result');
  const results = end < 0 ? blocks : blocks.slice(0, end);
  return new Set(results.map((block) => textIn(block, 'tool_use_id')));
}

/** The first refusal of a tool that the agent runs itself. */
function ofTools(
  body: JsonObject,
  refusal: (tool: JsonObject, place: string) => Refusal | undefined,
): Refusal | undefined {
  return objectsIn(body, 'tools')
    .map((tool, at) =>
      tool.type === undefined || tool.type === 'custom' ? refusal(tool, `tools.${at}.custom`) : undefined,
    )
    .find((one) => one !== undefined);
}

/** Looks at the types of a schema and of its properties, not at schemas elsewhere in it. */
function isOfDraft2020(schema: JsonObject): boolean {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? 'object'];
  return (
    types.every((type) => SCHEMA_TYPES.has(type)) &&
    typeof schema.exclusiveMinimum !== 'boolean' &&
    Object.values(objectIn(schema, 'properties')).filter(isJsonObject).every(isOfDraft2020)
  );
}
