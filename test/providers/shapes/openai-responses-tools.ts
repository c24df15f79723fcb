import { events, namedEvents, type ProviderShapes } from '../wire-shape.ts';

const AI_SDK = 'https://github.com/vercel/ai/blob/main/packages/openai/src/responses';
const AI_SDK_TEST = `${AI_SDK}/openai-responses-language-model.test.ts`;

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The events of a stream, each named by its type. */
function named(...data: readonly Event[]): string {
  return namedEvents(...data);
}

/** A response object of gpt-5.1 in 2026. */
function gpt51(status: string, more: object): object {
  return {
    id: 'resp_0775572d10a16b66006a8d85285ef487d2ae865d3657af7276',
    object: 'response',
    created_at: 1787659560,
    status,
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'gpt-5.1-2025-11-13',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { context: 'current_turn', effort: 'none', mode: 'standard', summary: null },
    service_tier: 'auto',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'required',
    tools: [
      {
        type: 'function',
        description: 'Get weather',
        name: 'get_weather',
        output_schema: null,
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        },
        strict: true,
      },
    ],
    usage: null,
    metadata: {},
    ...more,
  };
}

/** A response object of gpt-4o in March 2025, before events were numbered. */
function gpt4o(id: string, status: string, more: object): object {
  return {
    id,
    object: 'response',
    created_at: 1741362087,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'gpt-4o-2024-07-18',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 0,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
    ...more,
  };
}

const NO_USAGE = {
  usage: {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  },
};

const WEATHER_ITEM = 'fc_0775572d10a16b66006a8d8528e8a887d2a32ef76463d40c98';

function weatherCall(status: string, args: string): object {
  return {
    id: WEATHER_ITEM,
    type: 'function_call',
    status,
    arguments: args,
    call_id: 'call_2FQdm3Br7Qb35YUBSkDR7kue',
    name: 'get_weather',
  };
}

const TWO_CALLS_ID = 'resp_67cb13a755c08190acbe3839a49632fc';
const LOCATION_ITEM = 'fc_67cb13a838088190be08eb3927c87501';
const ROME_ITEM = 'fc_67cb13a858f081908a600343fa040f47';

function call(id: string, callId: string, name: string, args: string, status: string): object {
  return { type: 'function_call', id, call_id: callId, name, arguments: args, status };
}

function args(item: string, index: number, delta: string) {
  return { type: 'response.function_call_arguments.delta', item_id: item, output_index: index, delta };
}

/** How OpenAI streams tool calls over its Responses API. */
export const openaiResponsesToolsShapes: ProviderShapes = {
  provider: 'openai',
  api: 'responses',
  shapes: [
    {
      name: 'streams the arguments of a call under the id of its item and pads each piece',
      source: `${AI_SDK}/__fixtures__/issue-19493-gpt-5.1-tool-call.chunks.txt`,
      answer: {
        body: named(
          { type: 'response.created', response: gpt51('in_progress', {}), sequence_number: 0 },
          { type: 'response.in_progress', response: gpt51('in_progress', {}), sequence_number: 1 },
          {
            type: 'response.output_item.added',
            item: weatherCall('in_progress', ''),
            output_index: 0,
            sequence_number: 2,
          },
          ...['{"', 'city', '":"', 'Be', 'ijing', '"}'].map((delta, place) => ({
            type: 'response.function_call_arguments.delta',
            delta,
            item_id: WEATHER_ITEM,
            obfuscation: 'H2d0mf8T42i5Ya',
            output_index: 0,
            sequence_number: 3 + place,
          })),
          {
            type: 'response.function_call_arguments.done',
            arguments: '{"city":"Beijing"}',
            item_id: WEATHER_ITEM,
            output_index: 0,
            sequence_number: 9,
          },
          {
            type: 'response.output_item.done',
            item: weatherCall('completed', '{"city":"Beijing"}'),
            output_index: 0,
            sequence_number: 10,
          },
          {
            type: 'response.completed',
            response: gpt51('completed', {
              completed_at: 1787659561,
              output: [weatherCall('completed', '{"city":"Beijing"}')],
              service_tier: 'default',
              usage: {
                input_tokens: 45,
                input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
                output_tokens: 25,
                output_tokens_details: { reasoning_tokens: 0 },
                total_tokens: 70,
              },
            }),
            sequence_number: 11,
          },
        ),
      },
      expected: {
        text: '',
        toolCalls: [{ name: 'get_weather', arguments: { city: 'Beijing' } }],
        usage: { inputTokens: 45, outputTokens: 25, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
    {
      name: 'makes two calls and gives each another call_id when it is done',
      source: AI_SDK_TEST,
      answer: {
        body: events(
          { type: 'response.created', response: gpt4o(TWO_CALLS_ID, 'in_progress', {}) },
          { type: 'response.in_progress', response: gpt4o(TWO_CALLS_ID, 'in_progress', {}) },
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: call(LOCATION_ITEM, 'call_6KxSghkb4MVnunFH2TxPErLP', 'currentLocation', '', 'completed'),
          },
          args(LOCATION_ITEM, 0, '{}'),
          {
            type: 'response.function_call_arguments.done',
            item_id: LOCATION_ITEM,
            output_index: 0,
            arguments: '{}',
          },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: call(LOCATION_ITEM, 'call_pgjcAI4ZegMkP6bsAV7sfrJA', 'currentLocation', '{}', 'completed'),
          },
          {
            type: 'response.output_item.added',
            output_index: 1,
            item: call(ROME_ITEM, 'call_Dg6WUmFHNeR5JxX1s53s1G4b', 'weather', '', 'in_progress'),
          },
          args(ROME_ITEM, 1, '{'),
          args(ROME_ITEM, 1, '"location'),
          args(ROME_ITEM, 1, '":'),
          args(ROME_ITEM, 1, '"Rome'),
          args(ROME_ITEM, 1, '"}'),
          {
            type: 'response.function_call_arguments.done',
            item_id: ROME_ITEM,
            output_index: 1,
            arguments: '{"location":"Rome"}',
          },
          {
            type: 'response.output_item.done',
            output_index: 1,
            item: call(
              ROME_ITEM,
              'call_X2PAkDJInno9VVnNkDrfhboW',
              'weather',
              '{"location":"Rome"}',
              'completed',
            ),
          },
          {
            type: 'response.completed',
            response: gpt4o(TWO_CALLS_ID, 'completed', {
              output: [
                call(LOCATION_ITEM, 'call_KsVqaVAf3alAtCCkQe4itE7W', 'currentLocation', '{}', 'completed'),
                call(
                  ROME_ITEM,
                  'call_X2PAkDJInno9VVnNkDrfhboW',
                  'weather',
                  '{"location":"Rome"}',
                  'completed',
                ),
              ],
              ...NO_USAGE,
            }),
          },
        ),
      },
      expected: {
        text: '',
        toolCalls: [
          { name: 'currentLocation', arguments: {} },
          { name: 'weather', arguments: { location: 'Rome' } },
        ],
        usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
      },
      sdk: 'agrees',
    },
  ],
};
