import { z } from 'zod';
import type { McpServerConfig, WhenBusy } from './agent-config.ts';
import type { AnswerApproval } from './commands.ts';
import type { Envelope } from './envelope.ts';
import type { ErrorBody } from './errors.ts';
import type { IdempotencyKey, ReplyChunk, ReplyReasoning } from './events.ts';
import { SessionId, type TurnId } from './ids.ts';
import type { Image } from './image.ts';
import type { MachineState } from './machine-state.ts';
import type { FinishReason } from './reply-parts.ts';
import type { SessionListItem, SessionView } from './session-view.ts';
import { type Tool, ToolResult } from './tool.ts';
import type { TraceContext } from './trace.ts';

/** A message for the agent, and how it is to be treated. */
export interface TurnMessage {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly text: string;
  readonly image?: Image;
  readonly whenBusy?: WhenBusy;
  readonly key?: IdempotencyKey;
  readonly trace?: TraceContext;
}

/** What somebody says to a tool call that waits for approval. */
export type ApprovalAnswer = { readonly sessionId: SessionId } & Omit<AnswerApproval, 'type'>;

/** How a turn ended. */
export type TurnOutcome =
  | { readonly status: 'completed'; readonly content: string; readonly finishReason?: FinishReason }
  | { readonly status: 'failed'; readonly error: ErrorBody }
  | { readonly status: 'cancelled'; readonly reason: string };

export const McpServerStatus = z.enum(['connected', 'connecting', 'error', 'disconnected']);
export type McpServerStatus = z.infer<typeof McpServerStatus>;

/** A tool server as clients see it. `error` says why, when `status` is `error`. */
export const McpServerRecord = z.object({
  id: z.string(),
  name: z.string(),
  status: McpServerStatus,
  type: z.enum(['stdio', 'http']) satisfies z.ZodType<McpServerConfig['type']>,
  description: z.string().optional(),
  error: z.string().optional(),
});
export type McpServerRecord = z.infer<typeof McpServerRecord>;

/** What a tool gave to a client. */
export const ToolExecution = z.object({ serverId: z.string(), result: ToolResult, durationMs: z.number() });
export type ToolExecution = z.infer<typeof ToolExecution>;

/** A session that began with the first `at` events of another one; `head` is the seq of its last event. */
export const Fork = z.object({ sessionId: SessionId, at: z.int(), head: z.int() });
export type Fork = z.infer<typeof Fork>;

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
      trace?: TraceContext | undefined;
    } & Keyed;
    answer: ToolExecution;
  };
  /**
   * Tells where each running machine is, now and whenever one moves: of all sessions, or of one, and always of the
   * tool servers. Answers with the function that ends it.
   */
  'machine.watch': {
    request: { sessionId?: SessionId; onState: (state: MachineState) => void };
    answer: () => void;
  };
  /** What keeps the service from taking messages now, for people; nothing when it is ready. */
  'readiness.check': { request: Record<never, never>; answer: readonly string[] };
  /** The agent file as it is now, without secrets. */
  'config.export': { request: Record<never, never>; answer: string };
}

export type RequestType = keyof ServiceRequests;

/** Ephemeral: the session could not go on (the log refused it). Turns that were under way have no answer now, and go on later. */
export interface SessionFault {
  readonly type: 'session.fault';
  readonly sessionId: SessionId;
  readonly error: ErrorBody;
}

/** All that is heard of a session: facts from the log, and what is only of the moment. */
export type SessionSignal = Envelope | ReplyChunk | ReplyReasoning | SessionFault;
