import { z } from 'zod';
import { AgentDescription, AgentIdentity, AgentListItem, AgentReload } from '../core/agent-description.ts';
import { Image } from '../core/conversation/image.ts';
import { ErrorBody } from '../core/errors.ts';
import { CallId, SessionId } from '../core/ids.ts';
import { MachineState } from '../core/machine-state.ts';
import { MetricSamples } from '../core/metric-samples.ts';
import { NodeListItem } from '../core/node-list-item.ts';
import { Renamed } from '../core/session/session-answers.ts';
import { SessionListItem, SessionView, WaitingApproval, WaitingInput } from '../core/session/session-view.ts';
import { Timestamp } from '../core/timestamp.ts';
import { Tool, ToolResult } from '../core/tool-call/tool.ts';
import { McpServerRecord, McpServerStatus } from '../core/tool-server/mcp-server-record.ts';
import { ServerLogLine } from '../core/tool-server/server-log.ts';
import { FinishReason } from '../core/turn/reply-parts.ts';
import { ResumableFrame } from './frames.ts';
import { Queued } from './queued.ts';

/*
 * The answers of the REST endpoints. The gateway is typed by these schemas; clients read them in `/openapi.json`.
 */

const timestamp = Timestamp;

export const ErrorResponse = z.object({ success: z.literal(false), error: ErrorBody, timestamp });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

export const MessageSyncResponse = z.object({
  success: z.literal(true),
  response: z.string().describe('The whole reply.'),
  finishReason: FinishReason.optional().describe('`length` when a token limit cut the reply; else absent.'),
  timestamp,
});
export type MessageSyncResponse = z.infer<typeof MessageSyncResponse>;

export const MessageResponse = z.object({
  status: z.literal('processing'),
  queued: Queued.optional().describe('Present if the message waits behind a turn that waits for approval.'),
  timestamp,
});
export type MessageResponse = z.infer<typeof MessageResponse>;

export const ResetResponse = z.object({ status: z.literal('reset initiated'), timestamp });
export type ResetResponse = z.infer<typeof ResetResponse>;

export const ReadyResponse = z.object({ status: z.literal('ready'), timestamp });
export type ReadyResponse = z.infer<typeof ReadyResponse>;

export const AgentsResponse = z.object({
  agents: z.array(AgentListItem).readonly().describe('In the order of the service file.'),
  timestamp,
});
export type AgentsResponse = z.infer<typeof AgentsResponse>;

export const NodesResponse = z.object({
  nodes: z.array(NodeListItem).readonly().describe('In the order in which they joined.'),
  timestamp,
});
export type NodesResponse = z.infer<typeof NodesResponse>;

export const ReloadAgentResponse = AgentReload.extend({ timestamp });
export type ReloadAgentResponse = z.infer<typeof ReloadAgentResponse>;

export const ServersResponse = z.object({ servers: z.array(McpServerRecord), timestamp });
export type ServersResponse = z.infer<typeof ServersResponse>;

/** Answer to connect, disconnect and reconnect. */
export const ServerResponse = z.object({
  status: McpServerStatus,
  name: z.string(),
  server: McpServerRecord,
  timestamp,
});
export type ServerResponse = z.infer<typeof ServerResponse>;

export const ServerLogResponse = z.object({
  lines: z.array(ServerLogLine).readonly().describe('The last 200 lines at most, oldest first.'),
  timestamp,
});
export type ServerLogResponse = z.infer<typeof ServerLogResponse>;

export const ToolRecord = Tool.pick({ name: true, description: true, inputSchema: true }).extend({
  id: z.string(),
});
export type ToolRecord = z.infer<typeof ToolRecord>;

export const ToolsResponse = z.object({ tools: z.array(ToolRecord), timestamp });
export type ToolsResponse = z.infer<typeof ToolsResponse>;

export const ExecuteToolResponse = z.object({
  success: z.literal(true),
  data: ToolResult,
  execution: z.object({
    toolName: z.string(),
    serverId: z.string(),
    duration: z.number().describe('Milliseconds.'),
  }),
  timestamp,
});
export type ExecuteToolResponse = z.infer<typeof ExecuteToolResponse>;

export const SessionsResponse = z.object({ sessions: z.array(SessionListItem).readonly(), timestamp });
export type SessionsResponse = z.infer<typeof SessionsResponse>;

export const SessionResponse = z.object({ session: SessionView, timestamp });
export type SessionResponse = z.infer<typeof SessionResponse>;

export const RenameResponse = z.object({
  status: z.literal('renamed'),
  sessionId: SessionId,
  ...Renamed.shape,
  timestamp,
});
export type RenameResponse = z.infer<typeof RenameResponse>;

export const TicketResponse = z.object({
  ticket: z.string().describe('Good for one use, as `?ticket=` of a WebSocket or an event stream.'),
  expiresAt: Timestamp,
  timestamp,
});
export type TicketResponse = z.infer<typeof TicketResponse>;

export const DeleteSessionResponse = z.object({
  status: z.literal('deleted'),
  sessionId: SessionId,
  timestamp,
});
export type DeleteSessionResponse = z.infer<typeof DeleteSessionResponse>;

export const ImageResponse = z.object({ image: Image, timestamp });
export type ImageResponse = z.infer<typeof ImageResponse>;

export const ForkResponse = z.object({
  status: z.literal('forked'),
  sessionId: SessionId.describe('The new session.'),
  from: SessionId,
  at: z.int().describe('seq of the last event that both share.'),
  head: z.int().describe('seq of the last event of the new session.'),
  timestamp,
});
export type ForkResponse = z.infer<typeof ForkResponse>;

export const CancelResponse = z.object({
  status: z.enum(['cancelled', 'idle']).describe('`idle`: no turn was running.'),
  sessionId: SessionId,
  timestamp,
});
export type CancelResponse = z.infer<typeof CancelResponse>;

/** Answer to `POST /api/sessions/{id}/calls/{callId}`. */
export const CallAnswerResponse = z.object({
  status: z.literal('answered'),
  sessionId: SessionId,
  callId: z.string(),
  timestamp: Timestamp,
});
export type CallAnswerResponse = z.infer<typeof CallAnswerResponse>;

export const ApprovalResponse = z.object({
  status: z.enum(['approved', 'denied']),
  sessionId: SessionId,
  callId: CallId,
  timestamp,
});
export type ApprovalResponse = z.infer<typeof ApprovalResponse>;

export const ApprovalsResponse = z.object({
  approvals: z.array(WaitingApproval).readonly().describe('Oldest first.'),
  count: z.int().describe('How many tool calls wait for approval, also beyond this page.'),
  timestamp,
});
export type ApprovalsResponse = z.infer<typeof ApprovalsResponse>;

/** Answer to `POST /api/sessions/{id}/inputs/{inputId}`. */
export const InputResponse = z.object({
  status: z.literal('answered'),
  sessionId: SessionId,
  inputId: z.string(),
  timestamp,
});
export type InputResponse = z.infer<typeof InputResponse>;

export const InputsResponse = z.object({
  inputs: z.array(WaitingInput).readonly().describe('Oldest first.'),
  count: z.int().describe('How many questions wait for an answer, also beyond this page.'),
  timestamp,
});
export type InputsResponse = z.infer<typeof InputsResponse>;

export const EventsResponse = z.object({
  sessionId: SessionId,
  events: z.array(ResumableFrame.and(z.object({ time: Timestamp }))),
  after: z.int().describe('As in the request.'),
  head: z.int().describe('seq of the last event of the session.'),
  timestamp,
});
export type EventsResponse = z.infer<typeof EventsResponse>;

export const StatechartsResponse = z.object({ machines: z.array(MachineState), timestamp });
export type StatechartsResponse = z.infer<typeof StatechartsResponse>;

export const BackupResponse = z.object({
  status: z.literal('written'),
  file: z.string().describe('On the machine of the service. The next backup replaces it.'),
  bytes: z.int(),
  timestamp,
});
export type BackupResponse = z.infer<typeof BackupResponse>;

export const HealthResponse = z.object({
  status: z.literal('healthy'),
  version: z.string(),
  uptime: z.number().describe('Seconds.'),
  agent: AgentIdentity.extend({ status: z.literal('ready'), connectedServers: z.int() }),
  warnings: z
    .array(z.string())
    .readonly()
    .optional()
    .describe(
      'What an operator should know, for people: approval rules that match no tool, a tool server whose configuration cannot be decrypted, a node that cannot reach NATS. Absent if there is nothing, and for clients without `servers:read`.',
    ),
  log: z
    .object({
      bytes: z
        .int()
        .describe('Of the database and its write-ahead log; 0 with the data directory `:memory:`.'),
      events: z.int(),
    })
    .optional()
    .describe(
      'How large the event log is. Only at `/api/health`, and absent if the log does not answer, or for an authenticated client without `metrics:read`.',
    ),
  timestamp,
});
export type HealthResponse = z.infer<typeof HealthResponse>;

export const AgentResponse = AgentDescription.extend({
  maxImageBytes: z
    .int()
    .optional()
    .describe(
      'The largest image that a message may have, in bytes of the image itself; absent if the service sets no limit.',
    ),
  timestamp,
});
export type AgentResponse = z.infer<typeof AgentResponse>;
export const MetricSamplesResponse = MetricSamples.extend({ timestamp });
export type MetricSamplesResponse = z.infer<typeof MetricSamplesResponse>;
