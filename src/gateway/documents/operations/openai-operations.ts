import { z } from 'zod';
import { REQUEST_SCOPES } from '../../../ports/request-scopes.ts';
import { ChatCompletion } from '../../openai/chat/chat-answers.ts';
import { ChatRequest } from '../../openai/chat/chat-request.ts';
import { SessionHeader } from '../../openai/chosen-session.ts';
import { OpenAiModel, OpenAiModels } from '../../openai/models.ts';
import { OpenAiError, openAiError } from '../../openai/openai-error.ts';
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

/** OpenAI's interface. */
export const openAiOperations: readonly Operation[] = [
  {
    id: 'listModels',
    scope: REQUEST_SCOPES['agent.list'],
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
    scope: REQUEST_SCOPES['agent.list'],
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
    scope: REQUEST_SCOPES['turn.start'],
    method: 'POST',
    path: '/v1/chat/completions',
    tag: 'OpenAI',
    summary: 'Answer a conversation',
    description:
      'The client keeps the conversation and sends it with each request; it is recorded in a session of its own, which `X-Session-Id` of the answer names. In a session that the request names, by that header or as `metadata.session_id`, the conversation is known already, and only what is new is taken.',
    headers: SessionHeader.partial().extend(KeyHeader.shape),
    body: { schema: ChatRequest, required: true },
    answers: { [JSON_TYPE]: ChatCompletion, [EVENT_STREAM_TYPE]: z.string() },
    errors: [
      'MISSING_FIELD',
      'AGENT_NOT_FOUND',
      'TURN_CANCELLED',
      'AGENT_ERROR',
      'OUTCOME_UNKNOWN',
      'SERVICE_UNAVAILABLE',
    ],
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
];
