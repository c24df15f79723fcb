import { inTrace, type RequestContext } from '../../core/request/request-context.ts';
import { traceContextOf } from '../../core/trace.ts';
import type { Authenticator, Credentials } from '../../ports/authenticator.ts';

/**
 * Authenticates the client and reads the trace context of its request. Throws, or rejects, if the client is refused.
 * @param address of the client.
 */
export function requestContext(
  authenticator: Authenticator,
  request: Credentials,
  address: string,
): RequestContext | Promise<RequestContext> {
  const { headers } = request;
  const trace = headers.has('traceparent') ? traceContextOf(Object.fromEntries(headers)) : undefined;
  const context = authenticator.authenticate(request, address);
  return context instanceof Promise
    ? context.then((known) => inTrace(known, trace))
    : inTrace(context, trace);
}
