import type { ProviderRules, Refusal, RequestBody } from '../provider-rules.ts';
import { firstOf, isJsonObject, objectIn, objectsIn, textIn } from './body-fields.ts';

/** Kimi at its address for the interface of Anthropic. */
export const moonshotMessagesRules: ProviderRules = {
  provider: 'anthropic',
  api: 'messages',
  rules: [
    {
      name: 'tool calls come back with thinking, an empty one too',
      source:
        'https://github.com/NousResearch/hermes-agent/pull/14018 and https://github.com/borawong/AiMaMi/issues/10',
      refusal(body) {
        const at = objectsIn(body, 'messages').findIndex((message) => {
          const blocks = objectsIn(message, 'content');
          const types = blocks.map((block) => block.type);
          return types.includes('tool_use') && !types.includes('thinking');
        });
        return at < 0
          ? undefined
          : refusedBecause(
              `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
            );
      },
    },
  ],
};

/** Kimi of Moonshot AI, as an OpenAI-compatible server. */
export const moonshotRules: ProviderRules = {
  provider: 'openai-compatible',
  api: 'chat',
  rules: [
    {
      name: 'while thinking is on, reasoning_content comes back with tool calls',
      source: 'https://github.com/sipeed/picoclaw/issues/588',
      refusal(body) {
        if (!isThinking(body)) return undefined;
        const position = objectsIn(body, 'messages').findIndex(
          (message) =>
            objectsIn(message, 'tool_calls').length > 0 && typeof message.reasoning_content !== 'string',
        );
        return position === -1
          ? undefined
          : refusedBecause(
              `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${position}`,
            );
      },
    },
    {
      name: 'a schema refers to its $defs only, has no type beside anyOf, and one beside enum',
      source:
        'https://github.com/MoonshotAI/walle/blob/main/docs/validation-principles.md and ' +
        'https://github.com/MoonshotAI/kimi-cli/issues/1595',
      refusal(body) {
        const tools = objectsIn(body, 'tools').map((tool) =>
          objectIn(objectIn(tool, 'function'), 'parameters'),
        );
        const reply = objectIn(objectIn(body, 'response_format'), 'json_schema').schema;
        const inTool = firstOf(tools, schemaProblem);
        const problem = inTool ?? schemaProblem(reply);
        const place =
          inTool === undefined ? 'response_format.json_schema.schema' : 'tools.function.parameters';
        return problem === undefined
          ? undefined
          : refusedBecause(`${place} is not a valid moonshot flavored json schema, details: <${problem}>`);
      },
    },
    {
      name: 'while Kimi K2 thinks, no tool call can be forced',
      source:
        'https://github.com/vercel/ai/blob/538e4439e80e9c080914d4ef5dd5e73153b2de77/packages/moonshotai/src/__fixtures__/moonshotai-required-tool-choice-error.json',
      refusal(body) {
        return isKimiK2(body) && isThinking(body) && body.tool_choice === 'required'
          ? refusedBecause("tool_choice 'required' is incompatible with thinking enabled")
          : undefined;
      },
    },
    {
      name: 'while Kimi thinks, no certain tool can be forced',
      source: 'https://github.com/UKGovernmentBEIS/inspect_ai/pull/5152',
      refusal(body) {
        return isThinking(body) && isJsonObject(body.tool_choice)
          ? refusedBecause("tool_choice 'specified' is incompatible with thinking enabled")
          : undefined;
      },
    },
    {
      name: 'Kimi K2.5 that does not think has one temperature only',
      source:
        'https://github.com/vercel/ai/blob/961b9ced3a9f1bd0919b1c04ab653d8c562ee110/packages/moonshotai/src/__fixtures__/moonshotai-unsupported-sampling-error.json',
      refusal(body) {
        const { temperature } = body;
        return isKimiK2(body) && !isThinking(body) && temperature !== undefined && temperature !== 0.6
          ? refusedBecause('invalid temperature: only 0.6 is allowed for this model')
          : undefined;
      },
    },
    {
      name: 'thinking and reasoning_effort are not asked for together',
      source: 'https://github.com/HKUDS/nanobot/issues/3939',
      refusal(body) {
        return body.thinking !== undefined && body.reasoning_effort !== undefined
          ? refusedBecause("cannot specify both 'thinking' and 'reasoning_effort'")
          : undefined;
      },
    },
    {
      name: 'Kimi K2.7 cannot be kept from thinking',
      source:
        'https://github.com/vercel/ai/blob/1a6b27b1b469fe631ffa3b8fa854e79cc77a5a42/packages/moonshotai/src/__fixtures__/moonshotai-k2.7-disabled-thinking-error.json',
      refusal(body) {
        const mode = textIn(objectIn(body, 'thinking'), 'type');
        return textIn(body, 'model').startsWith('kimi-k2.7') && mode !== '' && mode !== 'enabled'
          ? refusedBecause('invalid thinking: only type=enabled is allowed for this model')
          : undefined;
      },
    },
  ],
};

function isKimiK2(body: RequestBody): boolean {
  return /^kimi-k2\.[5-9]/.test(textIn(body, 'model'));
}

/** From K2.5 on the models think unless they are told not to. */
function isThinking(body: RequestBody): boolean {
  const thinks = isKimiK2(body) || /^(?:kimi-)?(?:k[3-9]|.*thinking)/.test(textIn(body, 'model'));
  return thinks && textIn(objectIn(body, 'thinking'), 'type') !== 'disabled';
}

/** What Moonshot's validator finds in the schema of a tool, or in one within. */
function schemaProblem(schema: unknown): string | undefined {
  if (Array.isArray(schema)) return firstOf(schema, schemaProblem);
  if (!isJsonObject(schema)) return undefined;
  const { $ref, type, anyOf } = schema;
  if (typeof $ref === 'string' && !$ref.startsWith('#/$defs/'))
    return "At path '$ref': references must start with #/$defs/";
  if (type !== undefined && Array.isArray(anyOf))
    return 'when using anyOf, type should be defined in anyOf items instead of the parent schema';
  if (Array.isArray(schema.enum) && type === undefined) return 'type is not defined';
  return schemaProblem(Object.values(schema));
}

function refusedBecause(message: string): Refusal {
  return { status: 400, body: { error: { message, type: 'invalid_request_error' } } };
}
