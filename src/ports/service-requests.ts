import type { ApiKeyRecord, CreatedApiKey, NewApiKey } from '../core/access/api-key-record.ts';
import type { Grant, NewGrant } from '../core/access/grant.ts';
import type { TenantId } from '../core/access/identity.ts';
import type { SessionsOf } from '../core/access/session-names.ts';
import type { AgentDescription, AgentId, AgentListItem, AgentReload } from '../core/agent-description.ts';
import type { GivenMessage } from '../core/conversation/given-message.ts';
import type { CallId, SessionId, TurnId } from '../core/ids.ts';
import type { JsonRpcAnswer } from '../core/json-rpc.ts';
import type { Envelope } from '../core/log/envelope.ts';
import type { NodeListItem } from '../core/node-list-item.ts';
import type { PushConfig, ShownPushConfig } from '../core/push/push-config.ts';
import type { IdempotencyKey } from '../core/request/request-events.ts';
import type { Fork, Renamed } from '../core/session/session-answers.ts';
import type { SessionMetadata } from '../core/session/session-metadata.ts';
import type { SessionPosition } from '../core/session/session-position.ts';
import type {
  PendingApproval,
  SessionListItem,
  SessionView,
  WaitingApproval,
  WaitingInput,
} from '../core/session/session-view.ts';
import type { AnswerInput } from '../core/tool-call/input-commands.ts';
import type { Tool, ToolExecution, ToolOutcome } from '../core/tool-call/tool.ts';
import type { AnswerApproval } from '../core/tool-call/tool-call-commands.ts';
import type {
  CallableTool,
  OfferKind,
  ServerFeatures,
  ServerOffer,
  ServerRequest,
} from '../core/tool-server/forwarded-request.ts';
import type { McpServerConfig } from '../core/tool-server/mcp-server-config.ts';
import type { McpServerRecord, McpServerStatus } from '../core/tool-server/mcp-server-record.ts';
import type { ServerLogLine } from '../core/tool-server/server-log.ts';
import type { StartTurn } from '../core/turn/turn-commands.ts';
import type { TurnOutcome } from '../core/turn/turn-outcome.ts';
import type { LogSize } from './event-store.ts';
import type { LogCopy } from './log-backup.ts';
import type { PublicKey } from './push-signer.ts';
import type { AuthorizationResponse } from './server-authorization.ts';
import type { ForwardedRequestOptions } from './tool-server.ts';

/** A message for the agent. */
export interface TurnMessage extends Omit<StartTurn, 'type' | 'trace' | 'partial'> {
  readonly sessionId: SessionId;
  /** Nobody else can know the id of the session, so it certainly does not exist. */
  readonly isNewSession?: true;
}

/** The decision about a tool call that waits for approval. */
export type ApprovalAnswer = { readonly sessionId: SessionId } & Omit<AnswerApproval, 'type'>;

/** The answer to what a tool server asks. */
export type InputReply = { readonly sessionId: SessionId } & Omit<AnswerInput, 'type'>;

/** A request with a key is executed once. Its answer is kept for a day. */
interface Keyed {
  readonly key?: IdempotencyKey | undefined;
}

/** A request that another node has done already does nothing where the server has another status than it had there. */
interface Seen {
  readonly seen?: McpServerStatus | undefined;
}

/**
 * The requests of the bus. Commands change something and may be refused with a `ServiceError`. Queries, such as
 * `session.list` and `config.export`, change nothing. Each request has exactly one handler.
 */
export interface ServiceRequests {
  /**
   * Answered once the message is in the log. The reply follows as events of the session. A message that is
   * repeated with its key is answered with the turn of the first one, and with the outcome if that turn has
   * ended. `waitsFor` are the approvals that the turn before it waits for, if the message waits behind one.
   */
  'turn.start': {
    request: TurnMessage;
    answer: { turnId: TurnId; outcome?: TurnOutcome; waitsFor?: readonly PendingApproval[] };
  };
  /**
   * Cancels the running turn, or the turn `turnId`, running or waiting. The answer is whether there was one. Without a key,
   * the log has the `commandId` as the cause of what this does.
   */
  'turn.cancel': {
    request: { sessionId: SessionId; turnId?: TurnId; reason: string; commandId?: string } & Keyed;
    answer: boolean;
  };
  /** Approves or denies a waiting tool call. Refused if no call with this id waits. */
  'approval.answer': { request: ApprovalAnswer & Keyed; answer: undefined };
  /** What came of a call of a tool that the client has lent. Refused if no such call waits for it. */
  'tool-call.answer': {
    request: { sessionId: SessionId; callId: CallId; outcome: ToolOutcome } & Keyed;
    answer: undefined;
  };
  /** The answer to what a tool server asks. Refused if no such question waits, or if the answer does not fit it. */
  'input.answer': { request: InputReply & Keyed; answer: undefined };
  /** What tool servers ask in all these sessions, oldest first, and how many questions there are. */
  'input.list': {
    request: { limit: number; of?: SessionsOf };
    answer: { inputs: readonly WaitingInput[]; count: number };
  };
  /**
   * The tool calls of all these sessions that wait for approval, oldest first, and how many there are. With `sessions`,
   * those of all others are left out.
   */
  'approval.list': {
    request: { limit: number; of?: SessionsOf; sessions?: ReadonlySet<SessionId> };
    answer: { approvals: readonly WaitingApproval[]; count: number };
  };
  'session.reset': { request: { sessionId: SessionId } & Keyed; answer: undefined };
  /** How many sessions have ids that begin with this. */
  'session.count': { request: { prefix: string }; answer: number };
  /** With a `query`, only sessions whose id or title contains it; upper and lower case are the same. */
  'session.list': {
    request: { after?: SessionId; limit: number; query?: string; of?: SessionsOf };
    answer: readonly SessionListItem[];
  };
  /** Without a title, the title is derived from the first message. The answer has the title that is shown now. */
  'session.rename': { request: { sessionId: SessionId; title: string | null }; answer: Renamed };
  /** Notes something about a session, in place of what was noted before. A session that does not exist begins. */
  'session.describe': {
    request: { sessionId: SessionId; metadata: SessionMetadata } & Keyed;
    answer: undefined;
  };
  /**
   * Adds messages to a conversation without a turn. Refused with `SESSION_BUSY` while a turn is open or waits. The answer
   * is the seq of their event.
   */
  'session.extend': {
    request: { sessionId: SessionId; given: readonly GivenMessage[] } & Keyed;
    answer: { seq: number };
  };
  'session.view': { request: { sessionId: SessionId; at?: number }; answer: SessionView };
  'session.fork': {
    /** Without `to`, an id is generated. An `ephemeral` fork is for one ephemeral turn, and is deleted if that does not begin. */
    request: {
      from: SessionId;
      at?: number | undefined;
      to?: SessionId | undefined;
      ephemeral?: true | undefined;
    } & Keyed;
    answer: Fork;
  };
  'session.delete': { request: { sessionId: SessionId }; answer: undefined };
  /** Seq of the last event, and the text and reasoning that the running step has streamed so far. */
  'session.position': {
    request: { sessionId: SessionId };
    answer: SessionPosition;
  };
  /** Answered when nothing runs in the session any more. A call that waits for approval does not run. */
  'session.rest': { request: { sessionId: SessionId }; answer: undefined };
  /** Events after a seq, from the log: at most `limit`, and fewer where they are large. None: there are no more. */
  'session.events': {
    request: { sessionId: SessionId; afterSeq: number; limit: number };
    answer: readonly Envelope[];
  };
  'mcp-server.list': { request: Record<never, never>; answer: McpServerRecord[] };
  /** Answered when the server is connected. Refused if that fails; the server stays listed with its error. */
  'mcp-server.connect': {
    request: { name: string; config: McpServerConfig } & Keyed;
    answer: McpServerRecord;
  };
  /** Disconnects a server, or removes it from the list if it is already disconnected. */
  'mcp-server.disconnect': { request: { serverId: string } & Seen; answer: McpServerRecord };
  'mcp-server.reconnect': { request: { serverId: string } & Seen & Keyed; answer: McpServerRecord };
  /**
   * Ends the authorization of a tool server, which is then connected; the record says whether that succeeded. Refused if
   * the `state` is unknown, or if there is no permission.
   */
  'mcp-server.authorize': { request: AuthorizationResponse; answer: McpServerRecord };
  /** What the server said after the line with this number: the last 200 lines, oldest first. */
  'mcp-server.log': { request: { serverId: string; after: number }; answer: readonly ServerLogLine[] };
  'tool.list': { request: { serverId: string }; answer: readonly Tool[] };
  'tool.execute': {
    request: {
      serverId: string;
      toolName: string;
      arguments: Record<string, unknown>;
      /** With an id, the call can be watched with `onToolCall` and cancelled. */
      callId?: CallId;
    } & Keyed;
    answer: ToolExecution;
  };
  /** The servers that are connected now. */
  'mcp-server.features': { request: Record<never, never>; answer: readonly ServerFeatures[] };
  /** What the connected servers offer of this kind, asked anew. A server that does not answer is left out. */
  'mcp-server.offers': { request: { kind: OfferKind }; answer: readonly ServerOffer[] };
  /** The tools of all connected servers that may be called, as they were listed last. */
  'tool.callable': { request: Record<never, never>; answer: readonly CallableTool[] };
  /**
   * Passes a request of MCP on to a server and answers as the server does. Progress, log messages and questions are told
   * by `onToolCall`. A call of a tool that needs approval is a question to the client first.
   */
  'mcp-server.request': {
    request: ServerRequest & { readonly callId: CallId } & Pick<
        ForwardedRequestOptions,
        'capabilities' | 'passesInput'
      >;
    answer: JsonRpcAnswer;
  };
  /**
   * From now on, `onOfferChange` tells when this resource has changed, until `resource.unwatch` with the same fields. Refused as the
   * server refuses it. The client chooses the id of the watch.
   */
  'resource.watch': { request: { watchId: string; serverId: string; uri: string }; answer: JsonRpcAnswer };
  'resource.unwatch': { request: ServiceRequests['resource.watch']['request']; answer: undefined };
  /** Answers a question of a request that is passed on. The answer is whether the question still waits. */
  'tool.answer': {
    request: { callId: CallId; questionId: string; answer: JsonRpcAnswer };
    answer: boolean;
  };
  /** Cancels a running `tool.execute` or `mcp-server.request`. The answer is whether there was one. */
  'tool.cancel': { request: { callId: CallId }; answer: boolean };
  /** Refused for a tenant that is not the client's own. Takes no idempotency key, because its answer is a secret. */
  'key.create': {
    request: Omit<NewApiKey, 'tenant'> & { readonly tenant?: TenantId | undefined };
    answer: CreatedApiKey;
  };
  /** The API keys of the client's tenant, in the order of their creation. */
  'key.list': { request: Record<never, never>; answer: readonly ApiKeyRecord[] };
  /** From the answer on, the API key is refused. Refused itself for a key of another tenant. */
  'key.revoke': { request: { keyId: string }; answer: ApiKeyRecord };
  /** Shares a session. Refused if there is no such session. */
  'grant.create': { request: { readonly sessionId: SessionId } & NewGrant; answer: Grant };
  'grant.list': { request: { readonly sessionId: SessionId }; answer: readonly Grant[] };
  /** From the answer on, the session is not shared in this way; what was open by it has ended. */
  'grant.revoke': { request: { readonly sessionId: SessionId; grantId: string }; answer: Grant };
  /**
   * Tells somebody what becomes of a turn, which may begin later. Takes the place of a config with the same id. Refused for
   * an address that the service may not send to, beyond the limits, and if the session of a turn that had begun is gone.
   */
  'push.register': {
    request: {
      readonly sessionId: SessionId;
      readonly turnId: TurnId;
      readonly config: PushConfig;
      /** Seq of an event of the session that is before the turn. */
      readonly afterSeq: number;
      /** Whether the client found the turn in the log. Otherwise it is about to begin. */
      readonly hasBegun: boolean;
    };
    answer: ShownPushConfig;
  };
  /** The configs of a turn that have not ended, in the order of their ids. */
  'push.list': {
    request: { readonly sessionId: SessionId; readonly turnId: TurnId };
    answer: readonly ShownPushConfig[];
  };
  /** Ends a config. One that does not exist is not there afterwards either. */
  'push.end': {
    request: { readonly sessionId: SessionId; readonly turnId: TurnId; readonly configId: string };
    answer: undefined;
  };
  /** The keys with which notifications are signed. Empty before the first one. */
  'push.keys': { request: Record<never, never>; answer: readonly PublicKey[] };
  /** Why the service takes no messages now, for people. Empty if it is ready. */
  'readiness.check': { request: Record<never, never>; answer: readonly string[] };
  /** What an operator should know although the service works, for people. */
  'warning.list': { request: Record<never, never>; answer: readonly string[] };
  /** The agents of the service. The first one answers the requests that name none. */
  'agent.list': { request: Record<never, never>; answer: readonly AgentListItem[] };
  /** Reads the agent's file again. Turns that begin later run with what it says. Refused if the file is not valid. */
  'agent.reload': { request: { agentId: AgentId }; answer: AgentReload };
  /** The nodes of the cluster; none if the service has its log to itself. */
  'node.list': { request: Record<never, never>; answer: readonly NodeListItem[] };
  'agent.describe': { request: Record<never, never>; answer: AgentDescription };
  /** How large the log is; null if it does not answer in time. */
  'log.size': { request: Record<never, never>; answer: LogSize | null };
  /** Copies the log to a file. Refused if there is no log on a disk. */
  'log.backup': { request: Record<never, never>; answer: LogCopy };
  /** The current agent file, without secrets. */
  'config.export': { request: Record<never, never>; answer: string };
}

export type RequestType = keyof ServiceRequests;

/** What a request of this type carries, and what its handler answers. */
export type RequestOf<T extends RequestType> = ServiceRequests[T]['request'];
export type AnswerOf<T extends RequestType> = ServiceRequests[T]['answer'];
