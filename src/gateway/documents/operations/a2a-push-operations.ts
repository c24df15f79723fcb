import { z } from 'zod';
import {
  JsonWebKeys,
  ListPushConfigsResponse,
  SentPushConfig,
  ShownTaskPushConfig,
} from '../../a2a/a2a-requests.ts';
import { A2A_SCOPES } from '../../a2a/a2a-scopes.ts';
import { A2A_TYPE } from '../../a2a/a2a-version.ts';
import { idIn, ofTask, unknownTask, version } from './a2a-operations.ts';
import { JSON_TYPE, type Operation } from './operation.ts';

const url = 'https://client.example/hook';
const taskId = idIn('trip-open');
const config = { id: 'hook', taskId, url, authentication: { scheme: 'Bearer' } };

const ofConfigs = {
  ...ofTask,
  path: '/a2a/tasks/:taskId/pushNotificationConfigs',
} satisfies Partial<Operation>;

const ofConfig = {
  ...ofTask,
  path: '/a2a/tasks/:taskId/pushNotificationConfigs/:configId',
  pathParameters: ofTask.pathParameters.extend({ configId: z.string() }),
} satisfies Partial<Operation>;

const unknown = { ...unknownTask, parameters: { ...unknownTask.parameters, configId: 'hook' } };

/** Receivers of push notifications. */
export const a2aPushOperations: readonly Operation[] = [
  {
    ...ofConfigs,
    id: 'createA2aPushConfig',
    scope: A2A_SCOPES.CreateTaskPushNotificationConfig,
    method: 'POST',
    summary: 'Notify a receiver of a task',
    description:
      'Each event of the task is sent to the URL with `POST`, signed, and again until it arrives. The receiver must have `https://` and a public address. A config ends with its task.',
    body: { schema: SentPushConfig, required: true },
    answers: { [A2A_TYPE]: ShownTaskPushConfig },
    errors: ['MISSING_FIELD', 'SESSION_NOT_FOUND'],
    examples: [
      {
        name: 'created',
        summary: 'A receiver that asks for a token',
        parameters: { taskId, ...version },
        body: { id: 'hook', url, authentication: { scheme: 'Bearer', credentials: 'made-up' } },
        answer: { status: 200, mediaType: A2A_TYPE, body: config },
      },
      {
        name: 'private',
        summary: 'An address of a private network',
        parameters: { taskId, ...version },
        body: { url: 'https://10.0.0.7/hook' },
        answer: {
          error: 'INVALID_REQUEST',
          message: 'The service sends no notifications to this address.',
          details: { field: 'url', issue: 'it is not an address of the public internet' },
        },
      },
    ],
  },
  {
    ...ofConfigs,
    id: 'listA2aPushConfigs',
    scope: A2A_SCOPES.ListTaskPushNotificationConfigs,
    method: 'GET',
    summary: 'List the receivers of a task',
    answers: { [A2A_TYPE]: ListPushConfigsResponse },
    examples: [
      {
        name: 'one',
        summary: 'A task with one receiver',
        parameters: { taskId, ...version },
        answer: { status: 200, mediaType: A2A_TYPE, body: { configs: [config] } },
      },
      unknownTask,
    ],
  },
  {
    ...ofConfig,
    id: 'showA2aPushConfig',
    scope: A2A_SCOPES.GetTaskPushNotificationConfig,
    method: 'GET',
    summary: 'Show a receiver of a task',
    answers: { [A2A_TYPE]: ShownTaskPushConfig },
    examples: [
      {
        name: 'shown',
        summary: 'Without its secrets',
        parameters: { taskId, configId: 'hook', ...version },
        answer: { status: 200, mediaType: A2A_TYPE, body: config },
      },
      unknown,
    ],
  },
  {
    ...ofConfig,
    id: 'deleteA2aPushConfig',
    scope: A2A_SCOPES.DeleteTaskPushNotificationConfig,
    method: 'DELETE',
    summary: 'Notify a receiver of a task no more',
    answers: { [A2A_TYPE]: z.object({}) },
    examples: [
      {
        name: 'deleted',
        summary: 'Also if there is no such config',
        parameters: { taskId, configId: 'hook', ...version },
        answer: { status: 200, mediaType: A2A_TYPE, body: {} },
      },
      unknown,
    ],
  },
  {
    id: 'showPushKeys',
    scope: 'open',
    method: 'GET',
    path: '/.well-known/jwks.json',
    tag: 'A2A',
    summary: 'Show the keys that sign push notifications',
    description: 'A JSON Web Key Set. Empty before the first config.',
    answers: { [JSON_TYPE]: JsonWebKeys },
    errors: [],
    examples: [
      {
        name: 'key',
        summary: 'The key of an agent',
        answer: {
          status: 200,
          body: {
            keys: [
              {
                kty: 'OKP',
                crv: 'Ed25519',
                x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
                kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
                alg: 'EdDSA',
                use: 'sig',
              },
            ],
          },
        },
      },
    ],
  },
];
