import { inTrace, type RequestContext } from '../../core/request/request-context.ts';
import { traceContextOf } from '../../core/trace.ts';
import type { Authenticator, Credentials } from '../../ports/authenticator.ts';

/** Who asks, and as part of which distributed trace. Throws when the client is not let in. */
export function requestContext(authenticator: Authenticator, request: Credentials): RequestContext {
  const { headers } = request;
  const trace = headers.has('traceparent') ? traceContextOf(Object.fromEntries(headers)) : undefined;
  return inTrace(authenticator.authenticate(request), trace);
}
