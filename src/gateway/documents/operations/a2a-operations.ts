import { z } from 'zod';
import { A2aJsonRpcError, A2aRestError, jsonRpcError, restError } from '../../a2a/a2a-error.ts';
import { SendMessageResponse, Task } from '../../a2a/a2a-objects.ts';
import {
  JsonRpcRequest,
  JsonRpcResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  TaskQuery,
} from '../../a2a/a2a-requests.ts';
import { A2A_SCOPES } from '../../a2a/a2a-scopes.ts';
import { A2A_TYPE, A2A_VERSION, VERSION_HEADER } from '../../a2a/a2a-version.ts';
import { AgentCard } from '../../a2a/agent-card.ts';
import { EVENT_STREAM_TYPE, EXAMPLE_TIME, JSON_TYPE, KeyHeader, type Operation } from './operation.ts';

const errorFormat: Operation['errorFormat'] = { schema: A2aRestError, body: restError, mediaType: A2A_TYPE };
const VersionHeader = z.object({ [VERSION_HEADER]: z.string().optional() });
export const version = { [VERSION_HEADER]: A2A_VERSION };

const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';
export const idIn = (contextId: string): string => `${turnId}~default~${contextId}`;
const timestamp = EXAMPLE_TIME;

interface Said {
  readonly text: string;
  readonly messageId: string;
}

/** A task with one message. @param said `messageId` is the id of the turn if the message came by another interface. */
function taskIn(contextId: string, state: string, { text, messageId }: Said) {
  const ids = { taskId: idIn(contextId), contextId };
  const parts = [{ text, mediaType: 'text/plain' }];
  return {
    id: ids.taskId,
    contextId,
    status: { state, timestamp },
    history: [{ messageId, ...ids, role: 'ROLE_USER', parts }],
  };
}

const artifacts = [
  { artifactId: 'reply', name: 'reply', parts: [{ text: 'Hello!', mediaType: 'text/plain' }] },
];
const hello: Said = { text: 'hello', messageId: turnId };
const waiting: Said = { text: 'take your time', messageId: turnId };
const done = { ...taskIn('trip-6b1f', 'TASK_STATE_COMPLETED', hello), artifacts };

const sent = ({ text, messageId }: Said) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text }] },
});

const greeting: Said = { text: 'hello', messageId: '3d0c7f52-9a55-4a0e-8f0c-5b1d3c1f8a11' };

const skill = {
  id: 'conversation',
  name: 'agent-service',
  description: 'The agent agent-service.',
  tags: ['conversation'],
  examples: ['Hello!', 'What can you do?', 'Which tools do you have?'],
};

const bearer = {
  httpAuthSecurityScheme: {
    scheme: 'Bearer',
    description: 'An API key of the service, or a token of its identity provider.',
  },
};

/** @param secured what its card says besides where clients are authenticated. */
function card(secured: { readonly securitySchemes?: object; readonly securityRequirements?: object[] }) {
  const url = 'http://127.0.0.1:3001/a2a';
  return {
    name: 'agent-service',
    description: 'The agent agent-service.',
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: A2A_VERSION },
      { url, protocolBinding: 'HTTP+JSON', protocolVersion: A2A_VERSION },
    ],
    version: '0.1.0',
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: secured.securitySchemes !== undefined,
    },
    securitySchemes: {},
    securityRequirements: [],
    ...secured,
    defaultInputModes: [
      ...['text/plain', 'application/json'],
      ...['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
    ],
    defaultOutputModes: ['text/plain'],
    skills: [skill],
  };
}

export const unknownTask: Operation['examples'][number] = {
  name: 'unknown',
  summary: 'No task has the id',
  parameters: { taskId: 'nobody', ...version },
  answer: {
    error: 'SESSION_NOT_FOUND',
    message: 'There is no task nobody.',
    details: { error: 'TASK_NOT_FOUND', taskId: 'nobody' },
  },
};

export const ofTask = {
  tag: 'A2A',
  pathParameters: z.object({ taskId: z.string() }),
  headers: VersionHeader,
  errors: ['SESSION_NOT_FOUND'],
  errorFormat,
} satisfies Partial<Operation>;

const ofMessage = {
  tag: 'A2A',
  method: 'POST',
  scope: A2A_SCOPES.SendMessage,
  headers: VersionHeader.extend(KeyHeader.shape),
  body: { schema: SendMessageRequest, required: true },
  errors: [
    ...(['MISSING_FIELD', 'SESSION_NOT_FOUND', 'APPROVAL_NOT_FOUND', 'INPUT_NOT_FOUND'] as const),
    'SERVICE_UNAVAILABLE',
  ],
  errorFormat,
} satisfies Partial<Operation>;

const subscribing = {
  ...ofTask,
  scope: A2A_SCOPES.SubscribeToTask,
  path: '/a2a/tasks/:taskId:subscribe',
  summary: 'Read a task as it changes',
  description: 'The first event is the task as it is now. The stream ends with the task.',
  answers: { [EVENT_STREAM_TYPE]: z.string() },
  examples: [
    {
      name: 'running',
      summary: 'A task at work',
      parameters: { taskId: idIn('trip-open'), ...version },
      answer: {
        status: 200,
        mediaType: EVENT_STREAM_TYPE,
        body: `data: ${JSON.stringify({ task: taskIn('trip-open', 'TASK_STATE_WORKING', waiting) })}\n\n`,
      },
    },
    unknownTask,
  ],
} satisfies Partial<Operation>;

/** The agent as a peer of other agents. */
export const a2aOperations: readonly Operation[] = [
  {
    id: 'showAgentCard',
    scope: 'open',
    method: 'GET',
    path: '/.well-known/agent-card.json',
    tag: 'A2A',
    summary: 'Show the card of the agent',
    description: 'What the agent can, where it is, and how its clients authenticate.',
    answers: { [JSON_TYPE]: AgentCard },
    errors: [],
    examples: [
      {
        name: 'card',
        summary: 'The card of an agent that everybody may use',
        answer: { status: 200, body: card({}) },
      },
    ],
  },
  {
    id: 'callA2a',
    scope: null,
    method: 'POST',
    path: '/a2a',
    tag: 'A2A',
    summary: 'Call a method of A2A by JSON-RPC',
    description:
      '`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, `SubscribeToTask`, `GetExtendedAgentCard`, and `CreateTaskPushNotificationConfig`, `GetTaskPushNotificationConfig`, `ListTaskPushNotificationConfigs` and `DeleteTaskPushNotificationConfig`, each with the parameters, the result and the scope of its HTTP+JSON request.',
    headers: VersionHeader.extend(KeyHeader.shape),
    body: { schema: JsonRpcRequest, required: true },
    answers: { [JSON_TYPE]: z.union([JsonRpcResponse, A2aJsonRpcError]), [EVENT_STREAM_TYPE]: z.string() },
    errors: ['SERVICE_UNAVAILABLE'],
    errorFormat: { schema: A2aJsonRpcError, body: (error) => jsonRpcError(error, null) },
    examples: [
      {
        name: 'getTask',
        summary: 'A task that is over',
        parameters: version,
        body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: idIn('trip-6b1f') } },
        answer: { status: 200, body: { jsonrpc: '2.0', id: 1, result: done } },
      },
    ],
  },
  {
    ...ofMessage,
    id: 'sendA2aMessage',
    path: '/a2a/message:send',
    summary: 'Send a message and wait for its task',
    description:
      'Begins a task, in the context that the message names or in a new one. With `taskId` it answers what the task waits for: an approval, or a question of a tool server. The answer comes when the task has ended or needs input; with `returnImmediately` at once.',
    answers: { [A2A_TYPE]: SendMessageResponse },
    examples: [
      {
        name: 'hello',
        summary: 'A message',
        parameters: version,
        body: sent(greeting),
        answer: {
          status: 200,
          mediaType: A2A_TYPE,
          body: { task: { ...taskIn('trip-6b1f', 'TASK_STATE_COMPLETED', greeting), artifacts } },
        },
      },
      {
        name: 'unversioned',
        summary: 'A client that does not say that it speaks 1.0',
        body: sent(greeting),
        answer: {
          error: 'INVALID_REQUEST',
          message: 'The service does not speak A2A 0.3.',
          details: {
            error: 'VERSION_NOT_SUPPORTED',
            field: VERSION_HEADER,
            issue: 'it is missing, which means 0.3',
            supported: [A2A_VERSION],
            suggestion: 'Send the header A2A-Version: 1.0.',
          },
        },
      },
    ],
  },
  {
    ...ofMessage,
    id: 'streamA2aMessage',
    path: '/a2a/message:stream',
    summary: 'Send a message and read its task as it changes',
    description:
      'The first event is the task. The stream ends when the task has ended or needs input; the task goes on if the client leaves.',
    answers: { [EVENT_STREAM_TYPE]: z.string() },
    examples: [
      {
        name: 'begun',
        summary: 'The task, as the first event',
        parameters: version,
        body: sent({ ...greeting, text: 'take your time' }),
        answer: {
          status: 200,
          mediaType: EVENT_STREAM_TYPE,
          body: `data: ${JSON.stringify({ task: taskIn('trip-6b1f', 'TASK_STATE_WORKING', { ...greeting, text: 'take your time' }) })}\n\n`,
        },
      },
    ],
  },
  {
    id: 'listA2aTasks',
    scope: A2A_SCOPES.ListTasks,
    method: 'GET',
    path: '/a2a/tasks',
    tag: 'A2A',
    summary: 'List tasks',
    description: 'Those that have changed last come first.',
    query: ListTasksRequest,
    headers: VersionHeader,
    answers: { [A2A_TYPE]: ListTasksResponse },
    errors: [],
    errorFormat,
    examples: [
      {
        name: 'ofContext',
        summary: 'The tasks of a context',
        parameters: { contextId: 'trip-6b1f', pageSize: 10, ...version },
        answer: {
          status: 200,
          mediaType: A2A_TYPE,
          body: {
            tasks: [taskIn('trip-6b1f', 'TASK_STATE_COMPLETED', hello)],
            nextPageToken: '',
            pageSize: 10,
            totalSize: 1,
          },
        },
      },
    ],
  },
  {
    ...ofTask,
    id: 'showA2aTask',
    scope: A2A_SCOPES.GetTask,
    method: 'GET',
    path: '/a2a/tasks/:taskId',
    summary: 'Show a task',
    query: TaskQuery,
    answers: { [A2A_TYPE]: Task },
    examples: [
      {
        name: 'done',
        summary: 'A task that is over',
        parameters: { taskId: idIn('trip-6b1f'), ...version },
        answer: { status: 200, mediaType: A2A_TYPE, body: done },
      },
      unknownTask,
    ],
  },
  {
    ...ofTask,
    id: 'cancelA2aTask',
    scope: A2A_SCOPES.CancelTask,
    method: 'POST',
    path: '/a2a/tasks/:taskId:cancel',
    summary: 'Cancel a task',
    answers: { [A2A_TYPE]: Task },
    examples: [
      {
        name: 'cancelled',
        summary: 'A task that was at work',
        parameters: { taskId: idIn('trip-left'), ...version },
        answer: {
          status: 200,
          mediaType: A2A_TYPE,
          body: {
            ...taskIn('trip-left', 'TASK_STATE_CANCELED', waiting),
            status: {
              state: 'TASK_STATE_CANCELED',
              message: {
                messageId: `${turnId}.status.4`,
                taskId: idIn('trip-left'),
                contextId: 'trip-left',
                role: 'ROLE_AGENT',
                parts: [{ text: 'the client cancelled the task', mediaType: 'text/plain' }],
              },
              timestamp,
            },
          },
        },
      },
      unknownTask,
    ],
  },
  { ...subscribing, id: 'subscribeToA2aTask', method: 'POST' },
  { ...subscribing, id: 'followA2aTask', method: 'GET' },
];

/** Where nobody is authenticated, everybody sees everything on the card. */
export const extendedCardOperation: Operation = {
  id: 'showExtendedAgentCard',
  scope: A2A_SCOPES.GetExtendedAgentCard,
  method: 'GET',
  path: '/a2a/extendedAgentCard',
  tag: 'A2A',
  summary: 'Show the card of the agent, with its tools',
  headers: VersionHeader,
  answers: { [A2A_TYPE]: AgentCard },
  errors: [],
  errorFormat,
  examples: [
    {
      name: 'card',
      summary: 'The card of an agent whose clients authenticate',
      parameters: version,
      answer: {
        status: 200,
        mediaType: A2A_TYPE,
        body: card({
          securitySchemes: { bearer },
          securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        }),
      },
    },
  ],
};
