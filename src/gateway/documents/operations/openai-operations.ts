import { z } from 'zod';
import { scopeOf, scopesOfAll } from '../../../ports/request-rules.ts';
import { ChatCompletion } from '../../openai/chat/chat-answers.ts';
import { ChatRequest } from '../../openai/chat/chat-request.ts';
import { SessionHeader } from '../../openai/chosen-session.ts';
import { OpenAiModel, OpenAiModels } from '../../openai/models.ts';
import { OpenAiError, openAiError } from '../../openai/openai-error.ts';
import { CompactedResponse } from '../../openai/responses/compaction.ts';
import { InputItemList } from '../../openai/responses/input-items.ts';
import { ItemsQuery } from '../../openai/responses/item-page.ts';
import { OpenAiResponse } from '../../openai/responses/response-object.ts';
import {
  CompactRequest,
  DeletedResponse,
  ResponseRequest,
  RetrieveQuery,
} from '../../openai/responses/response-request.ts';
import { errorExamples } from './error-examples.ts';
import { EVENT_STREAM_TYPE, JSON_TYPE, KeyHeader, type Operation } from './operation.ts';

const errorFormat: Operation['errorFormat'] = { schema: OpenAiError, body: openAiError };

/** A time in Unix seconds, and an id, in place of those that nobody can foresee. */
const created = 1_795_240_286;
const id = 'chatcmpl-0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';

const model = { id: 'default', object: 'model', created, owned_by: 'agent-service' };
const ofModel = { model: 'default', messages: [{ role: 'user', content: 'hello' }] };

const noModel: Operation['examples'][number]['answer'] = {
  error: 'AGENT_NOT_FOUND',
  message: 'There is no model nobody.',
  details: {
    field: 'model',
    available: ['default'],
    suggestion: 'The models are the agents of this service: default.',
  },
};

const responseId = 'resp_0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e.1~default~trip-6b1f';

const response = {
  id: responseId,
  access_programs: null,
  object: 'response',
  created_at: created,
  completed_at: created,
  status: 'completed',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: 'default',
  output: [
    {
      type: 'message',
      id: 'msg_0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e_1~trip-6b1f',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello!', annotations: [], logprobs: [] }],
    },
  ],
  parallel_tool_calls: true,
  previous_response_id: null,
  conversation: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 11,
  },
  metadata: {},
};

const itemId = 'in_0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e_1_0~trip-6b1f';
const goneId = 'resp_0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e.1~default~trip-gone';
const unknownId = 'resp_0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e.1~default~nobody';

/** How a request that starts a turn can fail. */
const ofTurn = [
  'MISSING_FIELD',
  'AGENT_NOT_FOUND',
  'TURN_CANCELLED',
  'AGENT_ERROR',
  'OUTCOME_UNKNOWN',
  'SERVICE_UNAVAILABLE',
] as const;

/** What the operations on a path that names a response have in common. */
const ofResponse = {
  tag: 'OpenAI',
  pathParameters: z.object({ responseId: z.string() }),
  errors: ['SESSION_NOT_FOUND'],
  errorFormat,
} satisfies Partial<Operation>;

const unknown: Operation['examples'][number] = {
  name: 'unknown',
  summary: 'No response has the id',
  parameters: { responseId: unknownId },
  answer: {
    error: 'SESSION_NOT_FOUND',
    message: `There is no response ${unknownId}.`,
    details: { field: 'response_id' },
  },
};

const shown: Operation['examples'][number] = {
  name: 'shown',
  summary: 'A response that is over',
  parameters: { responseId },
  answer: { status: 200, body: response },
};

const responseOperations: readonly Operation[] = [
  {
    id: 'createResponse',
    scope: scopesOfAll('turn.start', 'session.events'),
    method: 'POST',
    path: '/v1/responses',
    tag: 'OpenAI',
    summary: 'Begin a response',
    description:
      'Goes on behind `previous_response_id`, in the session `conversation`, or in a new one. The answer comes when the response is over; with `background` at once; with `stream` as events, each with its `sequence_number`.',
    headers: KeyHeader,
    body: { schema: ResponseRequest, required: true },
    answers: { [JSON_TYPE]: OpenAiResponse, [EVENT_STREAM_TYPE]: z.string() },
    errors: [...ofTurn, 'SESSION_NOT_FOUND'],
    errorFormat,
    examples: [
      {
        name: 'hello',
        summary: 'A message',
        body: { model: 'default', input: 'hello' },
        answer: {
          status: 200,
          body: response,
        },
      },
      {
        name: 'unknownModel',
        summary: 'No agent has the id',
        body: { model: 'nobody', input: 'hello' },
        answer: noModel,
      },
    ],
  },
  {
    id: 'compactConversation',
    scope: scopesOfAll('turn.start', 'session.events'),
    method: 'POST',
    path: '/v1/responses/compact',
    tag: 'OpenAI',
    summary: 'Have a conversation summarized',
    description:
      'The model of the agent writes the summary, in a session that is deleted afterwards. `output` goes into the `input` of the next request in place of the conversation.',
    headers: KeyHeader,
    body: { schema: CompactRequest, required: true },
    answers: { [JSON_TYPE]: CompactedResponse },
    errors: [...ofTurn, 'SESSION_NOT_FOUND'],
    errorFormat,
    examples: [
      {
        name: 'compacted',
        summary: 'A short conversation',
        body: { model: 'default', input: 'hello' },
        answer: {
          status: 200,
          body: {
            id: responseId,
            object: 'response.compaction',
            created_at: created,
            output: [{ type: 'compaction', id: 'cmp_0b9f6a1c', encrypted_content: 'V2hhdCB3YXMgc2FpZA' }],
            usage: response.usage,
          },
        },
      },
      {
        name: 'nothing',
        summary: 'Neither an input nor a response',
        body: { model: 'default' },
        answer: {
          error: 'MISSING_FIELD',
          message: 'The field input is required.',
          details: {
            field: 'input',
            suggestion: 'Send the conversation as input, or a previous_response_id.',
          },
        },
      },
    ],
  },
  {
    ...ofResponse,
    id: 'showResponse',
    scope: scopeOf('session.events'),
    method: 'GET',
    path: '/v1/responses/:responseId',
    summary: 'Show a response, or read its events from any of them on',
    query: RetrieveQuery,
    answers: { [JSON_TYPE]: OpenAiResponse, [EVENT_STREAM_TYPE]: z.string() },
    examples: [shown, unknown],
  },
  {
    ...ofResponse,
    id: 'deleteResponse',
    scope: scopesOfAll('session.delete', 'session.events'),
    method: 'DELETE',
    path: '/v1/responses/:responseId',
    summary: 'Delete a response, with the session that was made for it',
    answers: { [JSON_TYPE]: DeletedResponse },
    examples: [
      {
        name: 'deleted',
        summary: 'A response that nothing follows',
        parameters: { responseId: goneId },
        answer: { status: 200, body: { id: goneId, object: 'response', deleted: true } },
      },
      unknown,
    ],
  },
  {
    ...ofResponse,
    id: 'cancelResponse',
    scope: scopesOfAll('turn.cancel', 'session.events'),
    method: 'POST',
    path: '/v1/responses/:responseId/cancel',
    summary: 'Cancel a response',
    answers: { [JSON_TYPE]: OpenAiResponse },
    examples: [shown, unknown],
  },
  {
    ...ofResponse,
    id: 'listInputItems',
    scope: scopeOf('session.events'),
    method: 'GET',
    path: '/v1/responses/:responseId/input_items',
    summary: 'List what the request of a response brought',
    query: ItemsQuery,
    answers: { [JSON_TYPE]: InputItemList },
    examples: [
      {
        name: 'items',
        summary: 'One message',
        parameters: { responseId },
        answer: {
          status: 200,
          body: {
            object: 'list',
            data: [
              {
                type: 'message',
                role: 'user',
                content: [{ type: 'input_text', text: 'hello' }],
                id: itemId,
                status: 'completed',
              },
            ],
            first_id: itemId,
            last_id: itemId,
            has_more: false,
          },
        },
      },
      unknown,
    ],
  },
];

/** OpenAI's interface. */
export const openAiOperations: readonly Operation[] = [
  {
    id: 'listModels',
    scope: scopeOf('agent.list'),
    method: 'GET',
    path: '/v1/models',
    tag: 'OpenAI',
    summary: 'List the agents, as models',
    answers: { [JSON_TYPE]: OpenAiModels },
    errors: [],
    errorFormat,
    examples: [
      {
        name: 'one',
        summary: 'A service with one agent',
        answer: { status: 200, body: { object: 'list', data: [model] } },
      },
    ],
  },
  {
    id: 'showModel',
    scope: scopeOf('agent.list'),
    method: 'GET',
    path: '/v1/models/:model',
    tag: 'OpenAI',
    summary: 'Show an agent, as a model',
    pathParameters: z.object({ model: z.string() }),
    answers: { [JSON_TYPE]: OpenAiModel },
    errors: ['AGENT_NOT_FOUND'],
    errorFormat,
    examples: [
      {
        name: 'agent',
        summary: 'An agent',
        parameters: { model: 'default' },
        answer: { status: 200, body: model },
      },
      { name: 'unknown', summary: 'No agent has the id', parameters: { model: 'nobody' }, answer: noModel },
    ],
  },
  {
    id: 'createChatCompletion',
    scope: scopesOfAll('turn.start', 'session.events'),
    method: 'POST',
    path: '/v1/chat/completions',
    tag: 'OpenAI',
    summary: 'Answer a conversation',
    description:
      'The client keeps the conversation and sends it with each request; it is recorded in a session of its own, which `X-Session-Id` of the answer names. In a session that the request names, by that header or as `metadata.session_id`, the conversation is known already, and only what is new is taken.',
    headers: SessionHeader.partial().extend(KeyHeader.shape),
    body: { schema: ChatRequest, required: true },
    answers: { [JSON_TYPE]: ChatCompletion, [EVENT_STREAM_TYPE]: z.string() },
    errors: ofTurn,
    errorFormat,
    examples: [
      {
        name: 'hello',
        summary: 'A conversation of one message',
        body: ofModel,
        answer: {
          status: 200,
          body: {
            id,
            object: 'chat.completion',
            created,
            model: 'default',
            choices: [
              {
                index: 0,
                message: { role: 'assistant', content: 'Hello!', refusal: null, annotations: [] },
                logprobs: null,
                finish_reason: 'stop',
              },
            ],
            usage: {
              prompt_tokens: 9,
              completion_tokens: 2,
              total_tokens: 11,
              prompt_tokens_details: { cached_tokens: 0 },
              completion_tokens_details: { reasoning_tokens: 0 },
            },
          },
        },
      },
      {
        name: 'streamed',
        summary: 'The same, as events',
        body: { ...ofModel, stream: true },
        answer: {
          status: 200,
          mediaType: EVENT_STREAM_TYPE,
          body: `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":"default","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}

data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":"default","choices":[{"index":0,"delta":{"content":"Hello!"},"logprobs":null,"finish_reason":null}]}

data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":"default","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`,
        },
      },
      {
        name: 'unknownModel',
        summary: 'No agent has the id',
        body: { ...ofModel, model: 'nobody' },
        answer: noModel,
      },
      {
        name: 'failure',
        summary: 'The model of the agent failed',
        body: { ...ofModel, messages: [{ role: 'user', content: 'fail' }] },
        answer: { error: 'AGENT_ERROR', ...errorExamples.AGENT_ERROR },
      },
    ],
  },
  ...responseOperations,
];
