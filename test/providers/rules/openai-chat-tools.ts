import type { ProviderRules, Refusal } from '../provider-rules.ts';
import {
  firstOf,
  hasOpenList,
  isJsonObject,
  objectIn,
  placedIn,
  textIn,
  unreadablePattern,
} from './body-fields.ts';

/** OpenAI's refusal of one field of a request. */
function refuse(message: string, param: string, code: string): Refusal {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

/** What JSON Schema has at the top level that OpenAI does not take there. */
const NOT_AT_THE_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/** What OpenAI refuses about the tools of a request over chat completions. */
export const openaiChatToolsRules: ProviderRules = {
  provider: 'openai',
  api: 'chat',
  rules: [
    {
      name: 'a request has at most 128 tools',
      source: 'https://github.com/vishalmysore/Tools4AI/issues/16',
      refusal(body) {
        const { length } = placedIn(body, 'tools');
        if (length <= 128) return undefined;
        return refuse(
          `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${length} instead.`,
          'tools',
          'array_above_max_length',
        );
      },
    },
    {
      name: 'the name of a tool has letters, digits, _ and - only',
      source: 'https://github.com/brekkylab/ailoy/pull/109',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          if (/^[a-zA-Z0-9_-]+$/.test(textIn(objectIn(one, 'function'), 'name'))) return undefined;
          const param = `tools[${place}].function.name`;
          return refuse(
            `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
            param,
            'invalid_value',
          );
        });
      },
    },
    {
      // Newer models take 128 characters; 64 is what the documentation promises for all of them.
      name: 'the name of a tool has at most 64 characters',
      source: 'https://github.com/openai/openai-node/blob/master/src/resources/shared.ts',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const { length } = textIn(objectIn(one, 'function'), 'name');
          if (length <= 64) return undefined;
          const param = `tools[${place}].function.name`;
          return refuse(
            `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`,
            param,
            'string_above_max_length',
          );
        });
      },
    },
    {
      // OpenAI has lifted the limit for newer models since May 2025; Azure and older models keep it.
      name: 'the description of a tool has at most 1024 characters',
      source: 'https://github.com/getsentry/sentry-mcp/issues/106',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const { length } = textIn(objectIn(one, 'function'), 'description');
          if (length <= 1024) return undefined;
          const param = `tools[${place}].function.description`;
          return refuse(
            `Invalid '${param}': string too long. Expected a string with maximum length 1024, but got a string with length ${length} instead.`,
            param,
            'string_above_max_length',
          );
        });
      },
    },
    {
      name: 'the schema of a tool has no choice at its top',
      source: 'https://github.com/nspady/google-calendar-mcp/issues/39',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const tool = objectIn(one, 'function');
          if (!NOT_AT_THE_TOP.some((word) => word in objectIn(tool, 'parameters'))) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(tool, 'name')}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`,
            `tools[${place}].function.parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'the schema of a tool says that it is an object',
      source: 'https://github.com/chatanywhere/GPT_API_free/issues/403',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const tool = objectIn(one, 'function');
          const { parameters } = tool;
          if (!isJsonObject(parameters) || parameters.type === 'object') return undefined;
          const type = typeof parameters.type === 'string' ? `"${parameters.type}"` : 'null';
          return refuse(
            `Invalid schema for function '${textIn(tool, 'name')}': schema must be a JSON Schema of 'type: "object"', got 'type: ${type}'.`,
            `tools[${place}].function.parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'a list in the schema of a tool says what its items are',
      source: 'https://github.com/spacelift-io/spacectl/issues/402',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const tool = objectIn(one, 'function');
          if (!hasOpenList(objectIn(tool, 'parameters'))) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(tool, 'name')}': In context=('properties', 'rows', 'items'), array schema missing items.`,
            `tools[${place}].function.parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'a pattern in the schema of a tool is one that Python reads',
      source: 'https://github.com/BerriAI/litellm/pull/40485',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const tool = objectIn(one, 'function');
          const pattern = unreadablePattern(objectIn(tool, 'parameters'));
          if (pattern === undefined) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(tool, 'name')}': '${pattern}' is not a 'regex'.`,
            `tools[${place}].function.parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
    {
      name: 'the schema of a tool without arguments says so with empty properties',
      source: 'https://github.com/evalstate/fast-agent/issues/143',
      refusal(body) {
        return firstOf(placedIn(body, 'tools'), ({ place, one }) => {
          const tool = objectIn(one, 'function');
          const { parameters } = tool;
          if (!isJsonObject(parameters) || parameters.type !== 'object') return undefined;
          if (isJsonObject(parameters.properties)) return undefined;
          return refuse(
            `Invalid schema for function '${textIn(tool, 'name')}': In context=(), object schema missing properties.`,
            `tools[${place}].function.parameters`,
            'invalid_function_parameters',
          );
        });
      },
    },
  ],
};
