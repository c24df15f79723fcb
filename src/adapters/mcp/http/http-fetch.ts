import { z } from 'zod';
import { TraceContext } from '../../../core/trace.ts';
import { patientDispatcher } from './patient-dispatcher.ts';

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

const TracedMessage = z.object({ params: z.object({ _meta: TraceContext }) });
const MAX_REDIRECTS = 5;
/** Redirects that keep method and body. */
const KEEPING = [307, 308];
const REDIRECTS = [301, 302, 303, ...KEEPING];

/** `fetch` that copies the trace context of an MCP message into the request's headers, where proxies see it. */
export async function fetchInTrace(input: string | URL, init?: RequestInit): Promise<Response> {
  const trace = traceOf(init?.body);
  if (!trace) return fetchWithinOrigin(input, init);
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(trace)) if (value !== undefined) headers.set(name, value);
  return fetchWithinOrigin(input, { ...init, headers });
}

/** Parses only bodies that contain the word: nearly all messages are without a trace. */
function traceOf(body: unknown): TraceContext | undefined {
  if (typeof body !== 'string' || !body.includes('"traceparent"')) return undefined;
  return TracedMessage.safeParse(JSON.parse(body)).data?.params._meta;
}

/** Follows no redirect to another origin: the headers hold credentials. Such an answer is returned as it is. */
async function fetchWithinOrigin(input: string | URL, init?: RequestInit): Promise<Response> {
  let url = new URL(input);
  const dispatcher = patientDispatcher();
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(url, { ...init, redirect: 'manual', ...(dispatcher && { dispatcher }) });
    const target = redirects < MAX_REDIRECTS ? redirectOf(url, response, init?.method ?? 'GET') : undefined;
    if (target === undefined) return response;
    await response.body?.cancel();
    url = target;
  }
}

function redirectOf(url: URL, response: Response, method: string): URL | undefined {
  const location = response.headers.get('location');
  if (location === null || !REDIRECTS.includes(response.status)) return undefined;
  if (method !== 'GET' && !KEEPING.includes(response.status)) return undefined;
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  return target?.origin === url.origin ? target : undefined;
}
