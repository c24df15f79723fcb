import type { SessionId } from '../core/ids.ts';
import type { MachineState } from '../core/machine-state.ts';
import type { RequestContext } from '../core/request/request-context.ts';
import type { SessionSignal } from '../core/session/session-signal.ts';
import type { RequestType, ServiceRequests } from './service-requests.ts';

/** Ends a subscription. */
export type Unsubscribe = () => void;

/** Which machines: those of one session, or all; those of tool servers always. */
export interface MachineFilter {
  readonly sessionId?: SessionId;
}

/**
 * The one way in which the gateway and the runtime talk. Requests, answers and what subscriptions give are plain data,
 * so that they could go over a network.
 */
export interface Bus {
  /** Rejects with a `ServiceError` when the request is refused. */
  send<T extends RequestType>(
    type: T,
    request: ServiceRequests[T]['request'],
    context: RequestContext,
  ): Promise<ServiceRequests[T]['answer']>;

  /** The signals of a session, from now on, in their order. */
  onSession(sessionId: SessionId, listener: (signal: SessionSignal) => void): Unsubscribe;

  /** Where each running machine is: first as it is now, within the call, then whenever one moves. */
  onMachines(filter: MachineFilter, listener: (state: MachineState) => void): Unsubscribe;
}
