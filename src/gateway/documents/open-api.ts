import { ApiKeyRecord } from '../../core/access/api-key-record.ts';
import { Grant } from '../../core/access/grant.ts';
import { Image } from '../../core/conversation/image.ts';
import { ErrorBody, ErrorCode } from '../../core/errors.ts';
import { MachineState, StateValue } from '../../core/machine-state.ts';
import {
  ClientCall,
  HistoryEntry,
  PendingApproval,
  SessionListItem,
  SessionView,
} from '../../core/session/session-view.ts';
import { ClientTool } from '../../core/tool-call/client-tool.ts';
import { ToolResult } from '../../core/tool-call/tool.ts';
import { McpServerConfig } from '../../core/tool-server/mcp-server-config.ts';
import { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { CreateKeyRequest, CreateKeyResponse, KeysResponse, RevokeKeyResponse } from '../../wire/api-keys.ts';
import { FramePlace, ResumableOnlyFrame, ServerFrame } from '../../wire/frames.ts';
import { CreateGrantRequest, GrantResponse, GrantsResponse, RevokeGrantResponse } from '../../wire/grants.ts';
import {
  ApprovalRequest,
  CallAnswerRequest,
  CancelRequest,
  ConnectServerRequest,
  ForkRequest,
  InputRequest,
  MessageRequest,
  MessageSyncRequest,
  ResetRequest,
} from '../../wire/requests.ts';
import {
  AgentResponse,
  AgentsResponse,
  ApprovalResponse,
  BackupResponse,
  CallAnswerResponse,
  CancelResponse,
  DeleteSessionResponse,
  ErrorResponse,
  EventsResponse,
  ExecuteToolResponse,
  ForkResponse,
  HealthResponse,
  InputResponse,
  InputsResponse,
  MessageResponse,
  MessageSyncResponse,
  NodesResponse,
  ReloadAgentResponse,
  ResetResponse,
  ServerResponse,
  ServersResponse,
  SessionResponse,
  SessionsResponse,
  StatechartsResponse,
  ToolRecord,
  ToolsResponse,
} from '../../wire/responses.ts';
import { A2aJsonRpcError, A2aRestError } from '../a2a/a2a-error.ts';
import { Message, SendMessageResponse, Task } from '../a2a/a2a-objects.ts';
import { SendMessageRequest } from '../a2a/a2a-requests.ts';
import { AgentCard } from '../a2a/agent-card.ts';
import { RunInput } from '../ag-ui/run-input.ts';
import { ChatChunk, ChatCompletion } from '../openai/chat/chat-answers.ts';
import { ChatRequest } from '../openai/chat/chat-request.ts';
import { OpenAiModel, OpenAiModels } from '../openai/models.ts';
import { OpenAiError } from '../openai/openai-error.ts';
import { OutputItem } from '../openai/responses/response-items.ts';
import { OpenAiResponse } from '../openai/responses/response-object.ts';
import { ResponseRequest } from '../openai/responses/response-request.ts';
import { type JsonSchema, NamedSchemas } from './json-schema.ts';
import {
  type ExampleObject,
  errorExample,
  type OperationObject,
  operationObject,
} from './open-api-operation.ts';
import { errorExamples, errorsOf } from './operations/error-examples.ts';
import type { Operation, Tag } from './operations/operation.ts';
import { operations } from './operations/operations.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Readonly<Record<string, unknown>> & { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: Tag; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly headers: Readonly<Record<string, { description: string; schema: JsonSchema }>>;
    readonly examples: Readonly<Record<string, ExampleObject>>;
    readonly securitySchemes?: Readonly<Record<string, object>>;
  };
}

/** The names are part of the interface: generated clients use them. */
const named = {
  MessageSyncRequest,
  MessageRequest,
  ResetRequest,
  ForkRequest,
  CancelRequest,
  ApprovalRequest,
  CallAnswerRequest,
  InputRequest,
  ClientTool,
  ConnectServerRequest,
  CreateKeyRequest,
  MessageSyncResponse,
  MessageResponse,
  ResetResponse,
  SessionsResponse,
  SessionResponse,
  EventsResponse,
  ForkResponse,
  CancelResponse,
  ApprovalResponse,
  CallAnswerResponse,
  InputResponse,
  InputsResponse,
  DeleteSessionResponse,
  ServersResponse,
  ServerResponse,
  ToolsResponse,
  ExecuteToolResponse,
  StatechartsResponse,
  BackupResponse,
  HealthResponse,
  AgentResponse,
  AgentsResponse,
  ReloadAgentResponse,
  NodesResponse,
  CreateKeyResponse,
  KeysResponse,
  RevokeKeyResponse,
  CreateGrantRequest,
  GrantResponse,
  GrantsResponse,
  RevokeGrantResponse,
  Grant,
  ApiKeyRecord,
  ChatRequest,
  ChatCompletion,
  ChatChunk,
  ResponseRequest,
  OpenAiResponse,
  OutputItem,
  OpenAiModel,
  OpenAiModels,
  OpenAiError,
  AgentCard,
  SendMessageRequest,
  SendMessageResponse,
  Message,
  Task,
  A2aRestError,
  JsonRpcError: A2aJsonRpcError,
  RunInput,
  ErrorResponse,
  ErrorBody,
  Image,
  McpServerConfig,
  McpServerRecord,
  MachineState,
  StateValue,
  ToolRecord,
  ToolResult,
  SessionListItem,
  SessionView,
  HistoryEntry,
  PendingApproval,
  ClientCall,
  ServerFrame,
  ResumableOnlyFrame,
  FramePlace,
};

const tags: OpenApiDocument['tags'] = [
  { name: 'Messages', description: 'Messages to the agent.' },
  { name: 'Sessions', description: 'Conversations: their list, history, events and control.' },
  { name: 'Tool servers', description: 'The MCP servers whose tools the agent uses.' },
  { name: 'Service', description: 'The service itself.' },
  { name: 'OpenAI', description: "OpenAI's interface, for clients that know it: the agents are the models." },
  { name: 'A2A', description: 'The agent as a peer of other agents, by A2A 1.0.' },
  { name: 'AG-UI', description: 'AG-UI 1.0, for pages that show an agent at work.' },
  { name: 'Access', description: 'Who may use the service.' },
];

const integer: JsonSchema = { type: 'integer', minimum: 0 };
const headers: OpenApiDocument['components']['headers'] = {
  'X-RateLimit-Limit': { description: 'Requests per minute and address.', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests that are left in this window.', schema: integer },
  'X-RateLimit-Reset': { description: 'When the window ends, in Unix seconds.', schema: integer },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: integer },
};

/** OpenAPI of the REST interface, or of these operations. */
export function openApiDocument(version: string, all: readonly Operation[] = operations): OpenApiDocument {
  const schemas = new NamedSchemas(named);
  const codes = new Set<string>(all.flatMap(errorsOf));
  const examples = Object.fromEntries(
    Object.entries(errorExamples)
      .filter(([code]) => codes.has(code))
      .map(([code, error]) => [code, errorExample({ code: ErrorCode.parse(code), ...error })]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'agent-service',
      version,
      summary: 'Conversational agents behind REST, WebSocket, MCP, A2A, AG-UI and the interface of OpenAI.',
      description:
        'Requests and responses are JSON. Replies stream over WebSocket, which `/asyncapi.json` describes. `/mcp` is the agent as an MCP server.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: tags.filter(({ name }) => all.some(({ tag }) => tag === name)),
    paths: pathsOf(all, schemas),
    components: { schemas: schemas.all, headers, examples },
  };
}

function pathsOf(all: readonly Operation[], schemas: NamedSchemas): OpenApiDocument['paths'] {
  const byPath = Map.groupBy(all, ({ path }) => path.replace(/\/:(\w+)/g, '/{$1}'));
  return Object.fromEntries(
    [...byPath].map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map((one) => [one.method.toLowerCase(), operationObject(one, schemas)])),
    ]),
  );
}
