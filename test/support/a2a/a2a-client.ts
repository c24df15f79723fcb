import { randomUUID } from 'node:crypto';
import {
  type ListTasksRequest,
  type Message,
  Role,
  type SendMessageConfiguration,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';

export const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
export type Binding = (typeof BINDINGS)[number];

/** The SDK's own client, which finds the agent by its card. @param base such as `http://127.0.0.1:3001/agents/support/`. */
export function a2aClient(base: string, binding: Binding, token?: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(base);
}

type Content = NonNullable<Message['parts'][number]['content']>;

export interface Said {
  readonly contextId?: string;
  readonly taskId?: string;
  readonly messageId?: string;
  readonly configuration?: Partial<SendMessageConfiguration>;
}

/** A message of the user. @param said a text, or any contents. */
export function message(
  said: string | readonly { content: Content; mediaType?: string }[],
  { contextId = '', taskId = '', messageId = randomUUID(), configuration }: Said = {},
): SendMessageRequest {
  const contents = typeof said === 'string' ? [{ content: { $case: 'text' as const, value: said } }] : said;
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId,
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: contents.map(({ content, mediaType = '' }) => ({
        content,
        mediaType,
        metadata: undefined,
        filename: '',
      })),
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: configuration && {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
  };
}

/** The contents of a message that is data. */
export function data(value: object): { content: Content }[] {
  return [{ content: { $case: 'data', value } }];
}

/** The data in a message. */
export function dataIn(said: Message | undefined): unknown[] {
  return (said?.parts ?? []).flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []));
}

/** What `listTasks` is asked. */
export function listed(asked: Partial<ListTasksRequest>): ListTasksRequest {
  return {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
    ...asked,
  };
}

/** Sends a message, whose answer is always a task. */
export async function taskFor(client: Client, request: SendMessageRequest): Promise<Task> {
  const answer = await client.sendMessage(request);
  if (!('status' in answer)) throw new Error('the answer is a message');
  return answer;
}

/** What the task has replied. */
export function replyOf({ artifacts }: Pick<Task, 'artifacts'>): string {
  return artifacts
    .flatMap(({ parts }) => parts)
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join('');
}

/** The reply as a reader of a stream has it, who follows `append`. */
export class ReadReply {
  text = '';
  isComplete = false;

  take({ payload }: StreamResponse): void {
    if (payload?.$case === 'task') this.text = replyOf(payload.value);
    if (payload?.$case !== 'artifactUpdate') return;
    const { artifact, append, lastChunk } = payload.value;
    const said = replyOf({ artifacts: artifact ? [artifact] : [] });
    this.text = append ? this.text + said : said;
    this.isComplete = lastChunk;
  }
}

export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
