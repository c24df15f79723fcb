import { z } from 'zod';
import { ApiKeyCreated, ApiKeyRevoked } from '../access/api-key-events.ts';
import { AuditRecorded } from '../access/audit-entry.ts';
import { GrantRevoked, SessionShared } from '../access/grant.ts';
import { UnprefixedAgentChosen } from '../agent-events.ts';
import { PushDelivered, PushRegistered } from '../push/push-events.ts';
import { RequestAnswered, RequestBegun, RequestFailed } from '../request/request-events.ts';
import {
  SessionDeleted,
  SessionDescribed,
  SessionExtended,
  SessionForked,
  SessionRenamed,
  SessionReset,
} from '../session/session-events.ts';
import { InputAnswered, InputRequested, SamplingCompleted } from '../tool-call/input-events.ts';
import {
  ApprovalGranted,
  ApprovalRequested,
  ToolCallDelegated,
  ToolCallFailed,
  ToolCallInterrupted,
  ToolCallRequested,
  ToolCallSucceeded,
} from '../tool-call/tool-call-events.ts';
import {
  McpServerAdded,
  McpServerRegistered,
  McpServerRemoved,
  SecretKept,
} from '../tool-server/tool-server-events.ts';
import {
  OutputRejected,
  StepCompleted,
  TurnCancelled,
  TurnCompleted,
  TurnFailed,
  TurnRequested,
  TurnResumed,
  TurnStarted,
} from '../turn/turn-events.ts';

/** An event of a session: a fact about it. Events are never edited, and are erased only with their whole session. */
export const SessionEvent = z.discriminatedUnion('type', [
  TurnRequested,
  TurnStarted,
  TurnResumed,
  StepCompleted,
  OutputRejected,
  ToolCallRequested,
  ApprovalRequested,
  ApprovalGranted,
  ToolCallDelegated,
  InputRequested,
  InputAnswered,
  SamplingCompleted,
  ToolCallSucceeded,
  ToolCallFailed,
  ToolCallInterrupted,
  TurnCompleted,
  TurnFailed,
  TurnCancelled,
  SessionReset,
  SessionRenamed,
  SessionDescribed,
  SessionExtended,
  SessionForked,
  SessionDeleted,
]);
export type SessionEvent = z.infer<typeof SessionEvent>;

/** An event of the service itself: about a tool server, an API key, a keyed request or a push notification. `streams.ts` names the streams for them. */
export const ServiceEvent = z.discriminatedUnion('type', [
  McpServerAdded,
  McpServerRegistered,
  SecretKept,
  McpServerRemoved,
  RequestBegun,
  RequestAnswered,
  RequestFailed,
  ApiKeyCreated,
  ApiKeyRevoked,
  UnprefixedAgentChosen,
  SessionShared,
  GrantRevoked,
  AuditRecorded,
  PushRegistered,
  PushDelivered,
]);
export type ServiceEvent = z.infer<typeof ServiceEvent>;

/** Any event of the log. */
export const LoggedEvent = z.discriminatedUnion('type', [...SessionEvent.options, ...ServiceEvent.options]);
export type LoggedEvent = z.infer<typeof LoggedEvent>;

const serviceTypes: ReadonlySet<string> = new Set(
  ServiceEvent.options.map((option) => option.shape.type.value),
);

export function isSessionEvent(event: LoggedEvent): event is SessionEvent {
  return !serviceTypes.has(event.type);
}

/** Undefined for an event that belongs to no turn. */
export function turnIdOf(event: LoggedEvent): string | undefined {
  return 'turnId' in event ? event.turnId : undefined;
}

export type SessionEventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

/** How a tool call ended. Each call has exactly one. */
export type ToolCallSettled = SessionEventOf<
  'tool-call.succeeded' | 'tool-call.failed' | 'tool-call.interrupted'
>;
