import { DEFAULT_TENANT, type Identity } from '../access/identity.ts';
import type { TraceContext } from '../trace.ts';

/** Who sends a request, and what it belongs to. It travels with every command and every query. */
export interface RequestContext {
  /** The identity of the client; `anonymous` if it was not authenticated. */
  readonly principal: string;
  /** Whose data the request is about. */
  readonly tenant: string;
  /** The agent that the request is for. */
  readonly agent: string;
  /** What stands before the paths of the agent, such as `/agents/support`. Absent where the service has only one. */
  readonly agentPath?: string | undefined;
  /** What its credential allows. Absent for a client that was not authenticated. */
  readonly rights?: Rights | undefined;
  /** The address of the client. Absent where clients are not authenticated. */
  readonly address?: string | undefined;
  /** Whether the service ends what still runs for a client that has gone, in the client's name. */
  readonly hasLeft?: true;
  /** The distributed trace that the request belongs to. */
  readonly trace?: TraceContext | undefined;
}

export type Rights = Pick<Identity, 'roles' | 'scopes' | 'credential' | 'expiresAt'>;

/** No principal may have this name: it stands for a client that was not authenticated. */
export const ANONYMOUS = 'anonymous';

/** The context of every request while the service does not authenticate its clients. */
export const ANYONE: RequestContext = { principal: ANONYMOUS, tenant: DEFAULT_TENANT, agent: 'default' };

/** The context of a request whose credential has shown who sends it. */
export function contextOf({ principal, tenant, ...rights }: Identity, address?: string): RequestContext {
  return { ...ANYONE, principal, tenant, rights, address };
}

/** For what the service ends in the name of a client that has gone, also when its credential was revoked. */
export function afterLeaving(context: RequestContext): RequestContext {
  return { ...context, hasLeft: true };
}

/** Adds the trace to the context. */
export function inTrace(context: RequestContext, trace: TraceContext | undefined): RequestContext {
  return trace === undefined ? context : { ...context, trace };
}
