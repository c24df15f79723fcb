import { type TraceContext, traceContextOf } from '../../core/trace.ts';
import type { HttpRequest } from './http-message.ts';

/** The trace that a request or a handshake says it is part of. */
export function traceOf({ headers }: Pick<HttpRequest, 'headers'>): TraceContext | undefined {
  return headers.has('traceparent') ? traceContextOf(Object.fromEntries(headers)) : undefined;
}
