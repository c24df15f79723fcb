import { z } from 'zod';
import { TraceContext } from '../../../core/trace.ts';

const TracedMessage = z.object({ params: z.object({ _meta: TraceContext }) });

/** `fetch`, which says in the headers of a request which trace its message belongs to, for all that stands in between. */
export async function fetchInTrace(input: string | URL, init?: RequestInit): Promise<Response> {
  const trace = traceOf(init?.body);
  if (!trace) return fetch(input, init);
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(trace)) if (value !== undefined) headers.set(name, value);
  return fetch(input, { ...init, headers });
}

/** The test for the word keeps messages without a trace, which are nearly all, from being parsed again. */
function traceOf(body: unknown): TraceContext | undefined {
  if (typeof body !== 'string' || !body.includes('"traceparent"')) return undefined;
  return TracedMessage.safeParse(JSON.parse(body)).data?.params._meta;
}
