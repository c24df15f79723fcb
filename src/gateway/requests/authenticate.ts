import { inTrace, type RequestContext } from '../../core/request/request-context.ts';
import { traceContextOf } from '../../core/trace.ts';
import type { Authenticator, Credentials } from '../../ports/authenticator.ts';

/** Authenticates the client and reads the trace context of its request. Throws if the client is refused. */
export function requestContext(authenticator: Authenticator, request: Credentials): RequestContext {
  const { headers } = request;
  const trace = headers.has('traceparent') ? traceContextOf(Object.fromEntries(headers)) : undefined;
  return inTrace(authenticator.authenticate(request), trace);
}
