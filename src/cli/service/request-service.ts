import { z } from 'zod';
import { KEY_ADVICE, keyHeaders, type RemoteService, serviceAddress } from './remote-service.ts';

const Refusal = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
});

/** An error envelope of the service. */
export class ServiceRefusal extends Error {
  override readonly name = 'ServiceRefusal';
  readonly code: string;
  /** What was wrong with the request, if the service says so. */
  readonly issue: unknown;

  constructor(code: string, message: string, issue?: unknown) {
    super(message);
    this.code = code;
    this.issue = issue;
  }
}

/** A request other than a GET. */
export interface ServiceCall {
  /** Such as `api/keys`. */
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: object;
}

/** Longest wait for the beginning of an answer. */
const PATIENCE_MS = 10_000;

/**
 * Asks a running service. Rejects with advice if no service answers, and with a `ServiceRefusal` if it refuses.
 *
 * @param call the request, or for a GET its path in the REST interface, such as `api/sessions`.
 */
export async function requestService(service: RemoteService, call: ServiceCall | string): Promise<Response> {
  const response = await begin(service, typeof call === 'string' ? { path: call } : call);
  if (response.ok) return response;
  const { data } = Refusal.safeParse(await response.json().catch(() => undefined));
  if (!data) throw notAService(service.url);
  const { code, details } = data.error;
  const advice = isUnknownPath(details.issue) && endsInApi(service.url) ? ' (write --url without /api)' : '';
  throw new ServiceRefusal(code, explainRefusal(data.error) + advice, details.issue);
}

/** Whether a refusal with this issue says that the service has no such path. */
export function isUnknownPath(issue: unknown): boolean {
  return issue === 'the path is unknown';
}

function endsInApi(base: string): boolean {
  return /\/api\/?$/.test(new URL(base).pathname);
}

/** The message of a refusal, with its field, its reason, its advice, and how long to wait. */
export function explainRefusal({ code, message, details }: z.infer<typeof Refusal>['error']): string {
  const { field, issue, suggestion, reason } = details;
  const advice = code === 'UNAUTHORIZED' ? KEY_ADVICE : suggestion;
  const more = [field, issue ?? reason, advice, advice === undefined ? waitOf(details) : undefined]
    // The message of many errors has the field and the issue already.
    .filter((text) => typeof text === 'string' && text !== '' && !message.includes(text))
    .map((text) => ` (${text})`);
  return `${message}${more.join('')}`;
}

function waitOf({ retryAfter, resetTime }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof retryAfter === 'number') return `try again in ${retryAfter} s`;
  if (typeof resetTime !== 'number') return undefined;
  return `try again in ${Math.max(1, Math.ceil(resetTime - Date.now() / 1000))} s`;
}

/** The JSON of an answer. */
export async function readAnswer<T>(
  service: RemoteService,
  call: ServiceCall | string,
  schema: z.ZodType<T>,
): Promise<T> {
  const response = await requestService(service, call);
  const { data } = schema.safeParse(await response.json().catch(() => undefined));
  if (data === undefined) throw notAService(service.url);
  return data;
}

/** The bytes of an answer. Throws if they break off. @param name of the answer, for the message. */
export async function* wholeBody({ body }: Response, name: string): AsyncGenerator<Uint8Array, void, void> {
  try {
    if (body) yield* body;
  } catch (cause) {
    throw new Error(`${name}: the service broke it off before its end`, { cause });
  }
}

async function begin(
  { url: base, token }: RemoteService,
  { path, method = 'GET', body }: ServiceCall,
): Promise<Response> {
  const address = serviceAddress(base, path);
  const headers = {
    ...(body && { 'Content-Type': 'application/json' }),
    ...keyHeaders(token),
  };
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), PATIENCE_MS);
  try {
    const { signal } = controller;
    return await fetch(address, { method, headers, signal, body: body ? JSON.stringify(body) : null });
  } catch (cause) {
    const advice =
      'start one with `agent-service` (in a checkout `npm start`), or say where it is with --url';
    throw new Error(`no service answers at ${base}${reasonOf(cause)}; ${advice}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Why `fetch` has failed, in parentheses; nothing if it does not say so. */
function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error ? failure.cause : undefined;
  if (!(cause instanceof Error)) return '';
  // Of a name with several addresses, the error of all attempts has only a code.
  const reason = cause.message || ('code' in cause ? cause.code : '');
  return reason === '' ? '' : ` (${reason})`;
}

function notAService(base: string): Error {
  return new Error(`the server at ${base} is not an agent-service; name another address with --url`);
}
