import { z } from 'zod';
import { PushAuthentication, PushConfig, PushConfigId } from '../../core/push/push-config.ts';
import { optional, WholeNumber } from '../../wire/requests.ts';
import { JsonRpcId } from './a2a-error.ts';
import { Message, optionalText, Task } from './a2a-objects.ts';

/* The parameters of the methods, and what is special about the answers. */

/** In a query, a number is a text. */
const count = (least: number, most: number, issue: string) =>
  z.union([z.int(), WholeNumber], issue).pipe(z.int().min(least, issue).max(most, issue));

const historyLength = optional(
  count(0, Number.MAX_SAFE_INTEGER, 'must be a whole number, 0 or more'),
).describe('At most so many messages of the history, the newest ones; all if absent.');

const SentAuthentication = z.object({
  scheme: PushAuthentication.shape.scheme.describe('Of the header `Authorization`, such as `Bearer`.'),
  credentials: optionalText(PushAuthentication.shape.credentials.unwrap()).describe('What follows it.'),
});

export const SentPushConfig = z.object({
  id: optionalText(PushConfigId).describe('Names the config. A config with the same id takes its place.'),
  taskId: optionalText(z.string()),
  url: PushConfig.shape.url.describe('Where the notifications are sent.'),
  token: optionalText(PushConfig.shape.token.unwrap()).describe('Sent along, as `X-A2A-Notification-Token`.'),
  authentication: optional(SentAuthentication),
});
export type SentPushConfig = z.infer<typeof SentPushConfig>;

/** The request in the JSON-RPC binding, which has the task in its params. */
export const CreatePushConfigRequest = SentPushConfig.extend({ taskId: z.string() });

export const PushConfigRequest = z.object({ taskId: z.string(), id: z.string() });
export type PushConfigRequest = z.infer<typeof PushConfigRequest>;

export const ListPushConfigsRequest = z.object({ taskId: z.string() });

/** Token and credentials are not shown again. */
export const ShownTaskPushConfig = z.object({
  id: z.string(),
  taskId: z.string(),
  url: z.string(),
  authentication: z.object({ scheme: z.string() }).optional(),
});
export type ShownTaskPushConfig = z.infer<typeof ShownTaskPushConfig>;

export const ListPushConfigsResponse = z.object({ configs: z.array(ShownTaskPushConfig) });
export type ListPushConfigsResponse = z.infer<typeof ListPushConfigsResponse>;

/** The public keys for the signatures of push notifications. */
export const JsonWebKeys = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string(),
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
    }),
  ),
});
export type JsonWebKeys = z.infer<typeof JsonWebKeys>;

export const SendMessageRequest = z.object({
  message: Message,
  configuration: optional(
    z.object({
      acceptedOutputModes: optional(z.array(z.string())),
      taskPushNotificationConfig: optional(SentPushConfig),
      historyLength,
      returnImmediately: optional(z.boolean()).describe('Do not wait until the task ends or needs input.'),
    }),
  ),
});
export type SendMessageRequest = z.infer<typeof SendMessageRequest>;

export const TaskQuery = z.object({ historyLength });
export type TaskQuery = z.infer<typeof TaskQuery>;

export const GetTaskRequest = TaskQuery.extend({ id: z.string() });
export type GetTaskRequest = z.infer<typeof GetTaskRequest>;

export const TaskIdRequest = z.object({ id: z.string() });
export type TaskIdRequest = z.infer<typeof TaskIdRequest>;

/** `UNRECOGNIZED` is what the JavaScript SDK writes for a state that a program leaves out. */
export const ANY_STATE: readonly string[] = ['TASK_STATE_UNSPECIFIED', 'UNRECOGNIZED'];

const STATES = [
  ...['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED'],
  ...['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'],
].map((name) => `TASK_STATE_${name}`);

/** In a query, `true` is a text. */
const flag = z.union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false');

export const ListTasksRequest = z.object({
  contextId: optionalText(z.string()),
  status: optionalText(z.enum([...ANY_STATE, ...STATES])),
  pageSize: optional(count(1, 100, 'must be a whole number from 1 to 100')),
  pageToken: optionalText(z.string()),
  historyLength,
  statusTimestampAfter: optionalText(z.iso.datetime({ offset: true })),
  includeArtifacts: optional(flag),
});
export type ListTasksRequest = z.infer<typeof ListTasksRequest>;

export const ListTasksResponse = z.object({
  tasks: z.array(Task),
  nextPageToken: z.string().describe('Empty on the last page.'),
  pageSize: z.int(),
  totalSize: z.int(),
});
export type ListTasksResponse = z.infer<typeof ListTasksResponse>;

export const JsonRpcRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: JsonRpcId,
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type JsonRpcRequest = z.infer<typeof JsonRpcRequest>;

export const JsonRpcResponse = z.object({
  jsonrpc: z.literal('2.0'),
  id: JsonRpcId,
  result: z.unknown().describe('What the HTTP+JSON binding answers.'),
});
export type JsonRpcResponse = z.infer<typeof JsonRpcResponse>;
