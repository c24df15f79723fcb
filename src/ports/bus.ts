import type { CallId, SessionId } from '../core/ids.ts';
import type { MachineState } from '../core/machine-state.ts';
import type { RequestContext } from '../core/request/request-context.ts';
import type { SessionSignal } from '../core/session/session-signal.ts';
import type { ToolCallSignal } from '../core/tool-call/tool-progress.ts';
import type { OfferChange } from '../core/tool-server/offer-change.ts';
import type { AnswerOf, RequestOf, RequestType } from './service-requests.ts';

/** Ends a subscription. */
export type Unsubscribe = () => void;

/** Selects the machines of one session, or of all sessions. Machines of tool servers are always included. */
export interface MachineFilter {
  readonly sessionId?: SessionId;
}

/** Somebody who hears the signals of a session. An object and not a function, because each idle client has one. */
export interface SessionListener {
  hear(signal: SessionSignal): void;
}

/**
 * The only connection between the gateway and the runtime. Requests, answers, signals and machine states are
 * plain data, so that they could cross a network.
 */
export interface Bus {
  /** Rejects with a `ServiceError` when the request is refused. */
  send<T extends RequestType>(type: T, request: RequestOf<T>, context: RequestContext): Promise<AnswerOf<T>>;

  /** What `onSession` calls the session that a client means. Throws if the client may not hear it. */
  topicOf(sessionId: SessionId, context: RequestContext): SessionId;

  /** Throws if a client that hears the session may not do so any more. It asks for nothing, so no audit trail has it. */
  recheck(sessionId: SessionId, context: RequestContext): void;

  /** The listener hears each later signal of the session, in order, until `offSession` is called with it. */
  onSession(topic: SessionId, listener: SessionListener): void;

  offSession(topic: SessionId, listener: SessionListener): void;

  /** Calls the listener when the `tool.execute` or `mcp-server.request` with this id begins to run, and with its progress. */
  onToolCall(callId: CallId, listener: (signal: ToolCallSignal) => void): Unsubscribe;

  /** Calls the listener when a tool server offers something else, or when a resource that is watched has changed. */
  onOfferChange(listener: (change: OfferChange) => void, context: RequestContext): Unsubscribe;

  /** The state of each running machine. */
  listMachines(filter: MachineFilter, context: RequestContext): Promise<readonly MachineState[]>;

  /**
   * Calls the listener with the state of each running machine before it returns, or a moment later if another node runs it,
   * then after each transition.
   */
  onMachines(
    filter: MachineFilter,
    listener: (state: MachineState) => void,
    context: RequestContext,
  ): Unsubscribe;
}
