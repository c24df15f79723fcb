import type { ProviderRules, Refusal, RequestBody } from '../provider-rules.ts';
import {
  firstOf,
  isJsonObject,
  type JsonObject,
  objectIn,
  type Placed,
  placedIn,
  textIn,
  unreadablePattern,
} from './body-fields.ts';

/** OpenAI's refusal of a request that it understands and does not like. */
function refuse(message: string, param: string | null, code: string | null): Refusal {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

/** The items of the input that have this type. */
function items(body: RequestBody, type: string): readonly Placed[] {
  return placedIn(body, 'input').filter(({ one }) => one.type === type);
}

function callIds(found: readonly Placed[]): ReadonlySet<string> {
  return new Set(found.map(({ one }) => textIn(one, 'call_id')));
}

/** How the id of an item begins, by the type of the item. */
const PREFIXES: Readonly<Record<string, string>> = { function_call: 'fc', message: 'msg', reasoning: 'rs' };

/** What may follow the thoughts that led to it. */
const FOLLOWING = new Set(['message', 'function_call', 'custom_tool_call', 'reasoning']);

/** The fields that OpenAI knows of an item, by its type. */
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set(['type', 'id', 'role', 'content', 'status', 'phase']),
  function_call: new Set(['type', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace', 'caller']),
  function_call_output: new Set(['type', 'id', 'call_id', 'output', 'status', 'caller']),
  reasoning: new Set(['type', 'id', 'summary', 'content', 'encrypted_content', 'status']),
};

/** Whether this item was written by the model that has just thought. */
function isOfTheModel(item: Placed | undefined): boolean {
  const type = item?.one.type ?? 'message';
  return item !== undefined && typeof type === 'string' && FOLLOWING.has(type) && item.one.role !== 'user';
}

/** The first property of a schema that the schema does not require. */
function optionalKey(schema: JsonObject): string | undefined {
  const required: unknown = schema.required;
  const keys = Object.keys(objectIn(schema, 'properties'));
  return keys.find((key) => !Array.isArray(required) || !required.includes(key));
}

/** What OpenAI refuses over its Responses API. */
export const openaiResponsesRules: ProviderRules = {
  provider: 'openai',
  api: 'responses',
  rules: [
    {
      name: 'a pattern in a schema is one that Python reads',
      source: 'https://github.com/router-for-me/CLIProxyAPI/issues/5644',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const pattern = unreadablePattern(one.parameters);
          if (pattern === undefined) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(one, 'name')}': '${pattern}' is not a 'regex'.`,
            `tools[${place}].parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'every function call has an output',
      source: 'https://github.com/router-for-me/CLIProxyAPI/issues/2368',
      refusal(body) {
        const answered = callIds(items(body, 'function_call_output'));
        return firstOf(items(body, 'function_call'), ({ one }) => {
          const id = textIn(one, 'call_id');
          if (answered.has(id)) return undefined;
          return refuse(`No tool output found for function call ${id}.`, 'input', null);
        });
      },
    },
    {
      name: 'every output has its function call',
      source: 'https://github.com/microsoft/vscode/issues/320060',
      refusal(body) {
        if (typeof body.previous_response_id === 'string') return undefined;
        const called = callIds(items(body, 'function_call'));
        return firstOf(items(body, 'function_call_output'), ({ one }) => {
          const id = textIn(one, 'call_id');
          if (called.has(id)) return undefined;
          return refuse(`No tool call found for function call output with call_id ${id}.`, 'input', null);
        });
      },
    },
    {
      name: 'thoughts are followed by what they led to',
      source: 'https://github.com/continuedev/continue/issues/8933',
      refusal(body) {
        const input = placedIn(body, 'input');
        return firstOf(input, (item) => {
          if (item.one.type !== 'reasoning' || isOfTheModel(input[input.indexOf(item) + 1])) return undefined;
          return refuse(
            `Item '${textIn(item.one, 'id')}' of type 'reasoning' was provided without its required following item.`,
            'input',
            null,
          );
        });
      },
    },
    {
      name: 'what was not stored is sent whole, thoughts with their encrypted content',
      source: 'https://github.com/earendil-works/pi/issues/3206',
      refusal(body) {
        if (body.store !== false) return undefined;
        return firstOf(placedIn(body, 'input'), ({ one }) => {
          const bare = one.type === 'reasoning' && typeof one.encrypted_content !== 'string';
          if (one.type !== 'item_reference' && !bare) return undefined;
          return {
            status: 404,
            body: {
              error: {
                message: `Item with id '${textIn(one, 'id')}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
                type: 'invalid_request_error',
                param: 'input',
                code: null,
              },
            },
          };
        });
      },
    },
    {
      name: 'encrypted content is returned as it came',
      source: 'https://github.com/openai/codex/issues/8145',
      refusal(body) {
        return firstOf(items(body, 'reasoning'), ({ one }) => {
          const content = textIn(one, 'encrypted_content');
          if (content === '' || content.startsWith('gAAAA')) return undefined;
          return refuse(
            `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified.`,
            null,
            'invalid_encrypted_content',
          );
        });
      },
    },
    {
      name: 'the id of an item begins as its type demands',
      source: 'https://github.com/gethnet/litellm-connector-copilot/issues/54',
      refusal(body) {
        return firstOf(placedIn(body, 'input'), ({ place, one }) => {
          const id = textIn(one, 'id');
          const prefix = PREFIXES[textIn(one, 'type')];
          if (id === '' || prefix === undefined || id.startsWith(prefix)) return undefined;
          const param = `input[${place}].id`;
          return refuse(
            `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
            param,
            'invalid_value',
          );
        });
      },
    },
    {
      name: 'a function call has its arguments',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/responses/__fixtures__/openai-issue-17402-error.1.json',
      refusal(body) {
        return firstOf(items(body, 'function_call'), ({ place, one }) => {
          if (typeof one.arguments === 'string') return undefined;
          const param = `input[${place}].arguments`;
          return refuse(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
        });
      },
    },
    {
      name: 'an item has no field that the provider does not know',
      source: 'https://github.com/microsoft/agent-framework/issues/2203',
      refusal(body) {
        return firstOf(placedIn(body, 'input'), ({ place, one }) => {
          const known = KNOWN[textIn(one, 'type') || 'message'];
          const unknown = Object.keys(one).find((field) => known !== undefined && !known.has(field));
          if (unknown === undefined) return undefined;
          const param = `input[${place}].${unknown}`;
          return refuse(`Unknown parameter: '${param}'.`, param, 'unknown_parameter');
        });
      },
    },
    {
      name: 'a reasoning model keeps its own temperature',
      source:
        'https://github.com/vercel/ai/blob/main/packages/openai/src/responses/__fixtures__/reasoning-model-temperature-error.json',
      refusal(body) {
        const thinks = /^(o[134]|gpt-[56])/.test(textIn(body, 'model'));
        const free = !thinks || objectIn(body, 'reasoning').effort === 'none';
        if (typeof body.temperature !== 'number' || free) return undefined;
        return refuse(
          "Unsupported parameter: 'temperature' is not supported with this model.",
          'temperature',
          null,
        );
      },
    },
    {
      name: 'a tool has its name beside its type, not within a function',
      source: 'https://github.com/mozilla-ai/any-llm/pull/1310',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          if (one.type !== 'function' || typeof one.name === 'string') return undefined;
          const param = `tools[${place}].name`;
          return refuse(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
        });
      },
    },
    {
      name: 'the name of a tool has letters, digits, _ and - only',
      source: 'https://github.com/meridianlabs-ai/inspect_petri/pull/77',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          if (one.type !== 'function' || /^[a-zA-Z0-9_-]+$/.test(textIn(one, 'name'))) return undefined;
          const param = `tools[${place}].name`;
          return refuse(
            `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
            param,
            'invalid_value',
          );
        });
      },
    },
    {
      name: 'the schema of a tool without arguments says so with empty properties',
      source: 'https://github.com/tailcallhq/forgecode/issues/1359',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const { parameters } = one;
          if (!isJsonObject(parameters) || parameters.type !== 'object') return undefined;
          if (isJsonObject(parameters.properties)) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(one, 'name')}': In context=(), object schema missing properties.`,
            `tools[${place}].parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'a strict tool closes each object of its schema',
      source: 'https://github.com/bytedance/trae-agent/issues/173',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          if (one.strict !== true || objectIn(one, 'parameters').additionalProperties === false)
            return undefined;
          return refuse(
            `Invalid schema for function '${textIn(one, 'name')}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
            `tools[${place}].parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'a strict tool requires each of its arguments',
      source: 'https://github.com/kevinwatt/mysql-mcp/issues/5',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const missing = optionalKey(objectIn(one, 'parameters'));
          if (one.strict !== true || missing === undefined) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(one, 'name')}': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
            `tools[${place}].parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
  ],
};
