import type { TraceContext } from '../trace.ts';

/** Who asks for something, and as part of what. Travels with every command and every query. */
export interface RequestContext {
  /** Whom the client was authenticated as; `anonymous` while nobody is. */
  readonly principal: string;
  /** Whose data the request is about. */
  readonly tenant: string;
  /** Which agent of the service. */
  readonly agent: string;
  /** The distributed trace that the request says it is part of. */
  readonly trace?: TraceContext | undefined;
}

export const ANONYMOUS = 'anonymous';

/** One agent, one tenant, and clients without a name: what the service has without authentication. */
export const ANYONE: RequestContext = { principal: ANONYMOUS, tenant: 'default', agent: 'default' };

/** The same request as part of a trace. */
export function inTrace(context: RequestContext, trace: TraceContext | undefined): RequestContext {
  return trace === undefined ? context : { ...context, trace };
}
