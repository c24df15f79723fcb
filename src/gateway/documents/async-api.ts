import { StreamQuery } from '../../wire/requests.ts';
import { hoistedSchema, type JsonSchema, parameterSchema } from './json-schema.ts';
import { clientMessages, resumableMessages, type StreamMessage, serverMessages } from './stream-messages.ts';

interface Reference {
  readonly $ref: string;
}

export interface MessageObject {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  readonly examples: readonly { readonly payload: object }[];
}

interface ChannelObject {
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, Reference>>;
  readonly bindings: {
    readonly ws: { readonly method: 'GET'; readonly query: JsonSchema; readonly bindingVersion: '0.1.0' };
  };
}

interface OperationObject {
  readonly action: 'send' | 'receive';
  readonly channel: Reference;
  readonly summary: string;
  readonly messages: readonly Reference[];
}

export interface AsyncApiDocument {
  readonly asyncapi: '3.0.0';
  readonly info: Readonly<Record<string, unknown>>;
  readonly defaultContentType: 'application/json';
  readonly servers: Readonly<Record<string, object>>;
  readonly channels: Readonly<Record<string, ChannelObject>>;
  readonly operations: Readonly<Record<string, OperationObject>>;
  readonly components: {
    readonly messages: Readonly<Record<string, MessageObject>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes?: Readonly<Record<string, object>>;
  };
}

/** For a client that resumes, the same frame is another message, because it has a place. */
const groups = { client: clientMessages, server: serverMessages, resumable: resumableMessages };
type Group = keyof typeof groups;

/** AsyncAPI of the WebSocket interface. */
export function asyncApiDocument(version: string): AsyncApiDocument {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'agent-service',
      version,
      description:
        'Streams replies in text frames of one JSON object each. `/openapi.json` describes the REST interface, which also offers the frames of the channel `resumable` as server-sent events.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      local: {
        host: '127.0.0.1:{port}',
        protocol: 'ws',
        variables: { port: { default: '3001', description: 'Set by `--web-port`.' } },
      },
    },
    channels: {
      session: channel('server', ['session', 'reasoning'], {
        title: 'A session',
        description: 'The live stream of the session.',
      }),
      resumable: channel('resumable', ['session', 'after', 'offset', 'reasoning', 'time', 'statecharts'], {
        title: 'A session that is resumed',
        description:
          'With `after`: first `resumed`, then one frame for each later event of the log, then the live stream.',
      }),
    },
    operations: {
      hear: operation('receive', 'session', 'client', 'Frames that a client sends'),
      tell: operation('send', 'session', 'server', 'Frames that a client receives'),
      hearResuming: operation('receive', 'resumable', 'client', 'Frames that a client sends'),
      tellResuming: operation('send', 'resumable', 'resumable', 'Frames that a resuming client receives'),
    },
    components: components(),
  };
}

function channel(
  group: Group,
  parameters: readonly string[],
  { title, description }: { title: string; description: string },
): ChannelObject {
  const { properties = {} } = parameterSchema(StreamQuery);
  const query: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => parameters.includes(name))),
    ...(group === 'resumable' && { required: ['after'] }),
  };
  return {
    address: '/',
    title,
    description,
    messages: { ...references('client'), ...references(group) },
    bindings: { ws: { method: 'GET', query, bindingVersion: '0.1.0' } },
  };
}

function operation(
  action: OperationObject['action'],
  channelName: string,
  group: Group,
  summary: string,
): OperationObject {
  const messages = Object.keys(references(group)).map((key) => ({
    $ref: `#/channels/${channelName}/messages/${key}`,
  }));
  return { action, channel: { $ref: `#/channels/${channelName}` }, summary, messages };
}

function references(group: Group): Record<string, Reference> {
  return Object.fromEntries(
    groups[group].map(({ name }) => [`${group}.${name}`, { $ref: `#/components/messages/${group}.${name}` }]),
  );
}

function components(): AsyncApiDocument['components'] {
  const messages: Record<string, MessageObject> = {};
  const schemas: Record<string, JsonSchema> = {};
  for (const [group, all] of Object.entries(groups)) {
    for (const message of all) {
      const { schema, named } = hoistedSchema(message.schema);
      messages[`${group}.${message.name}`] = messageObject(message, schema);
      Object.assign(schemas, named);
    }
  }
  return { messages, schemas };
}

function messageObject({ name, summary, examples }: StreamMessage, payload: JsonSchema): MessageObject {
  return {
    name,
    title: name,
    summary,
    payload,
    examples: examples.map((payload) => ({ payload })),
  };
}
