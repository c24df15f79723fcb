import type { Image } from '../core/conversation/image.ts';
import type { SessionId, TurnId } from '../core/ids.ts';
import type { Envelope } from '../core/log/envelope.ts';
import type { IdempotencyKey } from '../core/request/request-events.ts';
import type { ReplyChunk, ReplyReasoning } from '../core/session/session-signal.ts';
import type { Fork, SessionListItem, SessionView } from '../core/session/session-view.ts';
import type { WhenBusy } from '../core/session/when-busy.ts';
import type { Tool, ToolExecution } from '../core/tool-call/tool.ts';
import type { AnswerApproval } from '../core/tool-call/tool-call-commands.ts';
import type { McpServerConfig } from '../core/tool-server/mcp-server-config.ts';
import type { McpServerRecord } from '../core/tool-server/mcp-server-record.ts';
import type { TurnOutcome } from '../core/turn/turn-outcome.ts';

/** A message for the agent, and how it is to be treated. */
export interface TurnMessage {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly text: string;
  readonly image?: Image;
  readonly whenBusy?: WhenBusy;
  readonly key?: IdempotencyKey;
}

/** What somebody says to a tool call that waits for approval. */
export type ApprovalAnswer = { readonly sessionId: SessionId } & Omit<AnswerApproval, 'type'>;

/** A request with a key is done once, and its answer kept for a day. */
interface Keyed {
  readonly key?: IdempotencyKey | undefined;
}

/**
 * What can be asked of the service over the bus: commands change something and may be refused with a
 * `ServiceError`, queries (`session.list`, `config.export`) change nothing. Each has exactly one handler.
 */
export interface ServiceRequests {
  /**
   * Answered once the message is in the log. The reply follows as events of the session, unless the same
   * message (by its key) was there before: then the turn is that one's, and its outcome there if it is over.
   */
  'turn.start': { request: TurnMessage; answer: { turnId: TurnId; outcome?: TurnOutcome } };
  /** Cancels the running turn, or the turn of that id, running or waiting. Answers whether there was one. */
  'turn.cancel': {
    request: { sessionId: SessionId; turnId?: TurnId; reason: string } & Keyed;
    answer: boolean;
  };
  /** Lets a tool call that waits for it go ahead, or not. Refused when none of that id waits. */
  'approval.answer': { request: ApprovalAnswer & Keyed; answer: undefined };
  'session.reset': { request: { sessionId: SessionId } & Keyed; answer: undefined };
  'session.list': { request: { after?: SessionId; limit: number }; answer: readonly SessionListItem[] };
  'session.view': { request: { sessionId: SessionId; at?: number }; answer: SessionView };
  'session.fork': {
    /** `to` left out: an id is made. */
    request: { from: SessionId; at?: number | undefined; to?: SessionId | undefined } & Keyed;
    answer: Fork;
  };
  'session.delete': { request: { sessionId: SessionId }; answer: undefined };
  /** Seq of the session's last event, and all that the running step has streamed and thought so far. */
  'session.position': {
    request: { sessionId: SessionId };
    answer: { head: number; running: ReplyChunk | null; reasoning: ReplyReasoning | null };
  };
  /** The events after a seq, from the log. */
  'session.events': {
    request: { sessionId: SessionId; afterSeq: number; limit: number };
    answer: readonly Envelope[];
  };
  'mcp-server.list': { request: Record<never, never>; answer: McpServerRecord[] };
  /** Answers when the server is connected; refuses when it could not be, and keeps it listed with its error. */
  'mcp-server.connect': {
    request: { name: string; config: McpServerConfig } & Keyed;
    answer: McpServerRecord;
  };
  /** Disconnects; of a server that is disconnected already, forgets it. */
  'mcp-server.disconnect': { request: { serverId: string }; answer: McpServerRecord };
  'mcp-server.reconnect': { request: { serverId: string } & Keyed; answer: McpServerRecord };
  'tool.list': { request: { serverId: string }; answer: readonly Tool[] };
  'tool.execute': {
    request: {
      serverId: string;
      toolName: string;
      arguments: Record<string, unknown>;
    } & Keyed;
    answer: ToolExecution;
  };
  /** What keeps the service from taking messages now, for people; nothing when it is ready. */
  'readiness.check': { request: Record<never, never>; answer: readonly string[] };
  /** The agent file as it is now, without secrets. */
  'config.export': { request: Record<never, never>; answer: string };
}

export type RequestType = keyof ServiceRequests;
