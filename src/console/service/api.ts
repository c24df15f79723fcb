import type { ErrorBody } from '../../core/errors.ts';
import { agentBase } from './agent-base.ts';
import { headersOf, keptKey } from './kept-key.ts';
import { tellSignedOut } from './signed-out.ts';

/** The service refused a request or could not be reached. `code` is an error code of the service, or `UNREACHABLE`. */
export class ApiError extends Error {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    { code, message, details }: Omit<ErrorBody, 'code'> & { readonly code: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
  }
}

export function unreachable(cause: unknown): ApiError {
  const message = 'The service does not answer. Is it running?';
  return new ApiError({ code: 'UNREACHABLE', message, details: {} }, { cause });
}

/** The error as text for people: the message of the service, and its reason in parentheses. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const { reason, issue, field } = error.details;
  const why = [field, issue ?? reason].filter((part) => typeof part === 'string').join(': ');
  return why === '' ? error.message : `${error.message} (${why})`;
}

/** Gets JSON. Answers are not checked, because the page comes from the same service. Rejects with an `ApiError`. */
export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request(path, { headers: { Accept: 'application/json' }, signal: signal ?? null });
}

export function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

export function patch<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return request(path, { method: 'PATCH', headers, body: JSON.stringify(body) });
}

export function remove<T>(path: string): Promise<T> {
  return request(path, { method: 'DELETE' });
}

/** Gets JSON with a key that nobody is signed in with yet. */
export function getAs<T>(key: string, path: string, signal?: AbortSignal): Promise<T> {
  return send(path, { headers: { Accept: 'application/json' }, signal: signal ?? null }, key);
}

/** As whoever is signed in. If the service asks who that is, the page shows how to sign in. */
async function request<T>(path: string, init: RequestInit): Promise<T> {
  try {
    return await send<T>(path, init, keptKey());
  } catch (error) {
    if (error instanceof ApiError) noteSignedOut(error);
    throw error;
  }
}

/** Call it with each refusal of a request of the page. */
export function noteSignedOut(error: ApiError): void {
  if (error.code === 'UNAUTHORIZED') tellSignedOut(error);
}

async function send<T>(path: string, init: RequestInit, key: string | null): Promise<T> {
  const headers = { ...init.headers, ...headersOf(key) };
  const response = await fetch(agentBase + path, { ...init, headers }).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw unreachable(cause);
  });
  const body = await response.json();
  if (!response.ok) throw new ApiError(body.error);
  return body;
}
