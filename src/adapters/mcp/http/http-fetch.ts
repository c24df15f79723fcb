import { z } from 'zod';
import { TraceContext } from '../../../core/trace.ts';

const TracedMessage = z.object({ params: z.object({ _meta: TraceContext }) });

/**
 * `fetch` that copies the trace context of an MCP message into the request's headers, where proxies see it. It calls
 * `onStream` when a stream for notifications opens, unless the server replays there what was missed.
 */
export function fetchNotingStreams(onStream: () => void): typeof fetchInTrace {
  return async (input, init) => {
    const response = await fetchInTrace(input, init);
    const isStream = init?.method === 'GET' && response.ok;
    if (isStream && !new Headers(init.headers).has('last-event-id')) onStream();
    return response;
  };
}

async function fetchInTrace(input: string | URL, init?: RequestInit): Promise<Response> {
  const trace = traceOf(init?.body);
  if (!trace) return fetch(input, init);
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(trace)) if (value !== undefined) headers.set(name, value);
  return fetch(input, { ...init, headers });
}

/** Parses only bodies that contain the word: nearly all messages are without a trace. */
function traceOf(body: unknown): TraceContext | undefined {
  if (typeof body !== 'string' || !body.includes('"traceparent"')) return undefined;
  return TracedMessage.safeParse(JSON.parse(body)).data?.params._meta;
}
