import { z } from 'zod';
import { scopeOf } from '../../../ports/request-rules.ts';
import { ConnectServerRequest, ServerLogQuery } from '../../../wire/requests.ts';
import {
  ExecuteToolResponse,
  ServerLogResponse,
  ServerResponse,
  ServersResponse,
  ToolsResponse,
} from '../../../wire/responses.ts';
import { errorExamples } from './error-examples.ts';
import {
  EVENT_STREAM_TYPE,
  EXAMPLE_TIME,
  JSON_TYPE,
  KeyHeader,
  type Operation,
  type OperationExample,
  ok,
} from './operation.ts';

const path = '/api/mcp/servers/:serverId';
const OfServer = z.object({ serverId: z.string().describe('Id from the list of servers.') });

const everything = {
  id: 'everything',
  name: 'everything',
  status: 'connected',
  type: 'stdio',
  description: 'Reference server with tools for trying things out',
};
const second = { id: 'second', name: 'second', status: 'connected', type: 'stdio' };

const unknownServer: OperationExample = {
  name: 'unknown',
  summary: 'There is no such server',
  parameters: { serverId: 'nobody' },
  answer: { error: 'SERVER_NOT_FOUND', ...errorExamples.SERVER_NOT_FOUND },
};

const listServers: Operation = {
  id: 'listServers',
  scope: scopeOf('mcp-server.list'),
  method: 'GET',
  path: '/api/mcp/servers',
  tag: 'Tool servers',
  summary: 'List the tool servers',
  answers: { [JSON_TYPE]: ServersResponse },
  errors: [],
  examples: [{ name: 'connected', summary: 'One connected server', answer: ok({ servers: [everything] }) }],
};

const connectServer: Operation = {
  id: 'connectServer',
  scope: scopeOf('mcp-server.connect'),
  method: 'POST',
  path: '/api/connect-server',
  tag: 'Tool servers',
  summary: 'Connect a tool server',
  description:
    'Answered when the server is connected. If that fails, the server stays listed and is retried. The service connects it again at each start.',
  body: { schema: ConnectServerRequest, required: true },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: ServerResponse },
  errors: ['OUTCOME_UNKNOWN', 'MISSING_FIELD', 'AGENT_ERROR', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'stdio',
      summary: 'A program that speaks MCP on its standard input and output',
      body: {
        name: 'second',
        config: { type: 'stdio', command: 'mcp-server-everything', args: ['stdio'] },
      },
      answer: ok({ status: 'connected', name: 'second', server: second }),
    },
    {
      name: 'failing',
      summary: 'A server that cannot be started',
      body: { name: 'misspelt', config: { type: 'stdio', command: 'mpc-server-everything' } },
      answer: {
        error: 'AGENT_ERROR',
        message: 'The MCP server misspelt could not be connected.',
        details: {
          serverId: 'misspelt',
          reason: "command 'mpc-server-everything' was not found",
          suggestion:
            'It stays listed and is tried again. Correct it by connecting a server of the same name; DELETE /api/mcp/servers/{id} gives it up.',
        },
      },
    },
    {
      name: 'missing',
      summary: 'A field is missing',
      body: { name: 'files' },
      answer: {
        error: 'MISSING_FIELD',
        message: 'The field config is required.',
        details: { field: 'config', suggestion: 'Add config to the request.' },
      },
    },
  ],
};

const reconnectServer: Operation = {
  id: 'reconnectServer',
  scope: scopeOf('mcp-server.reconnect'),
  method: 'POST',
  path: `${path}/reconnect`,
  tag: 'Tool servers',
  summary: 'Reconnect a tool server',
  pathParameters: OfServer,
  headers: KeyHeader,
  answers: { [JSON_TYPE]: ServerResponse },
  errors: ['SERVER_NOT_FOUND', 'AGENT_ERROR', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'connected',
      summary: 'The server is connected again',
      parameters: { serverId: 'second' },
      answer: ok({ status: 'connected', name: 'second', server: second }),
    },
    unknownServer,
  ],
};

const disconnectServer: Operation = {
  id: 'disconnectServer',
  scope: scopeOf('mcp-server.disconnect'),
  method: 'DELETE',
  path,
  tag: 'Tool servers',
  summary: 'Disconnect a tool server',
  description: 'The server stays listed and can be reconnected. A second request removes it from the list.',
  pathParameters: OfServer,
  answers: { [JSON_TYPE]: ServerResponse },
  errors: ['SERVER_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'disconnected',
      summary: 'A server that was connected',
      parameters: { serverId: 'second' },
      answer: ok({
        status: 'disconnected',
        name: 'second',
        server: { ...second, status: 'disconnected' },
      }),
    },
    unknownServer,
  ],
};

const listTools: Operation = {
  id: 'listTools',
  scope: scopeOf('tool.list'),
  method: 'GET',
  path: `${path}/tools`,
  tag: 'Tool servers',
  summary: 'List the tools of a server',
  pathParameters: OfServer,
  answers: { [JSON_TYPE]: ToolsResponse },
  errors: ['SERVER_NOT_FOUND'],
  examples: [
    {
      name: 'tools',
      summary: 'One of its tools',
      parameters: { serverId: 'everything' },
      answer: ok({
        tools: [
          {
            id: 'echo',
            name: 'echo',
            description: 'Echoes back the input string',
            inputSchema: {
              type: 'object',
              properties: { message: { type: 'string', description: 'Message to echo' } },
              required: ['message'],
              $schema: 'http://json-schema.org/draft-07/schema#',
            },
          },
        ],
      }),
    },
    unknownServer,
  ],
};

const readServerLog: Operation = {
  id: 'readServerLog',
  scope: scopeOf('mcp-server.log'),
  method: 'GET',
  path: `${path}/logs`,
  tag: 'Tool servers',
  summary: 'Read what a server said',
  description:
    'Its standard error, its MCP log messages, lines on its standard output that are no messages, and what it asked of the service. Kept in memory, without the secrets of its configuration.',
  pathParameters: OfServer,
  query: ServerLogQuery,
  answers: { [JSON_TYPE]: ServerLogResponse },
  errors: ['SERVER_NOT_FOUND'],
  examples: [
    {
      name: 'started',
      summary: 'The line that a server writes when it starts',
      parameters: { serverId: 'everything', after: 0 },
      answer: ok({
        lines: [{ seq: 1, time: EXAMPLE_TIME, source: 'stderr', text: 'Starting default (STDIO) server...' }],
      }),
    },
    unknownServer,
  ],
};

const sum = {
  success: true,
  data: { content: [{ type: 'text', text: 'The sum of 19 and 23 is 42.' }] },
  execution: { toolName: 'get-sum', serverId: 'everything', duration: 4.217 },
};

const executeTool: Operation = {
  id: 'executeTool',
  scope: scopeOf('tool.execute'),
  method: 'POST',
  path: `${path}/tools/:toolName/execute`,
  tag: 'Tool servers',
  summary: 'Run a tool',
  description:
    'The body holds the arguments. They are checked against the `inputSchema` of the tool. A client that accepts `text/event-stream` gets an event `progress` whenever the server reports progress, and then `result` or `error`. If it disconnects before, the call is cancelled.',
  pathParameters: OfServer.extend({ toolName: z.string() }),
  body: {
    schema: z.record(z.string(), z.unknown()).describe('The arguments.'),
    required: false,
  },
  headers: KeyHeader,
  answers: {
    [JSON_TYPE]: ExecuteToolResponse,
    [EVENT_STREAM_TYPE]: z
      .string()
      .describe(
        'The data of `progress` is `{progress, total?, message?}`; of `result` it is the JSON answer, of `error` the error envelope.',
      ),
  },
  errors: [
    'OUTCOME_UNKNOWN',
    'SERVER_NOT_FOUND',
    'TOOL_NOT_FOUND',
    'TOOL_EXECUTION_FAILED',
    'SERVICE_UNAVAILABLE',
  ],
  examples: [
    {
      name: 'sum',
      summary: 'A tool that adds',
      parameters: { serverId: 'everything', toolName: 'get-sum' },
      body: { a: 19, b: 23 },
      answer: ok(sum),
    },
    {
      name: 'stream',
      summary: 'The same as an event stream',
      parameters: { serverId: 'everything', toolName: 'get-sum' },
      body: { a: 19, b: 23 },
      answer: {
        status: 200,
        mediaType: EVENT_STREAM_TYPE,
        body: `event: result\ndata: ${JSON.stringify({ ...sum, timestamp: EXAMPLE_TIME })}\n\n`,
      },
    },
    {
      name: 'badArguments',
      summary: 'Arguments that do not fit the tool',
      parameters: { serverId: 'everything', toolName: 'echo' },
      body: {},
      answer: {
        error: 'INVALID_REQUEST',
        message:
          "The arguments do not fit the tool's inputSchema: arguments must have required property 'message'.",
        details: {
          field: 'message',
          issue: "arguments must have required property 'message'",
          toolName: 'echo',
          serverId: 'everything',
        },
      },
    },
    {
      name: 'unknownTool',
      summary: 'There is no such tool',
      parameters: { serverId: 'everything', toolName: 'juggle' },
      body: {},
      answer: { error: 'TOOL_NOT_FOUND', ...errorExamples.TOOL_NOT_FOUND },
    },
    {
      name: 'notConnected',
      summary: 'A tool whose server is not connected',
      parameters: { serverId: 'paused', toolName: 'echo' },
      body: { message: 'hello' },
      answer: { error: 'TOOL_EXECUTION_FAILED', ...errorExamples.TOOL_EXECUTION_FAILED },
    },
    { ...unknownServer, parameters: { serverId: 'nobody', toolName: 'echo' }, body: {} },
  ],
};

/** Tool servers and their tools. */
export const serverOperations: readonly Operation[] = [
  listServers,
  connectServer,
  listTools,
  readServerLog,
  executeTool,
  reconnectServer,
  disconnectServer,
];
