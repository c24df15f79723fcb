import type { ErrorBody } from '../core/errors.ts';
import { isObject } from './is-object.ts';
import { RefusedError, UnreachableError } from './session-errors.ts';

/** Why a connection could not be made. */
export interface HandshakeRefusal {
  readonly error: RefusedError | UnreachableError;
  /** Whether a later attempt can succeed without a change of the client or of its address. */
  readonly isTemporary: boolean;
  /** The service asks to wait at least this long. */
  readonly retryAfterMs: number;
}

export interface HandshakeQuestion {
  /** The address of the WebSocket. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Whether this client was connected before: then another server at the address is taken for a temporary one. */
  readonly wasConnected: boolean;
  readonly signal: AbortSignal;
}

/** Statuses below 500 that do not speak against a later attempt: timeout, too early, too many requests. */
const TEMPORARY_STATUSES = [408, 425, 429];

/**
 * Asks over HTTP why a WebSocket was refused, because neither browsers nor Node tell the status of the handshake. The
 * service answers a GET of the same address as it would answer the handshake.
 *
 * @returns null when nothing speaks against the next attempt.
 */
export async function askWhyRefused(question: HandshakeQuestion): Promise<HandshakeRefusal | null> {
  const { url, headers, signal, wasConnected } = question;
  const address = url.replace(/^ws/, 'http');
  let response: Response;
  let text: string;
  try {
    response = await question.fetch(address, { headers, redirect: 'manual', signal });
    text = await response.text();
  } catch (cause) {
    return unreachable(address, cause);
  }
  if (response.ok && isService(text)) return null;
  const refusal = refusalOf(response, text, address);
  return { ...refusal, isTemporary: refusal.isTemporary || (response.ok && wasConnected) };
}

/** Nothing answers at the address, or a browser keeps the answer from the page. */
export function unreachable(address: string, cause: unknown): HandshakeRefusal {
  const message = `no service can be reached at ${withoutQuery(address)}${originHint(address)}`;
  return { error: new UnreachableError(message, { cause }), isTemporary: true, retryAfterMs: 0 };
}

/** The service answers at the address, and yet no WebSocket can be opened there. */
export function noUpgrade(url: string): HandshakeRefusal {
  const message = `the service at ${withoutQuery(url)} answers over HTTP, but no WebSocket can be opened; check that every proxy in front of it passes WebSocket upgrades on`;
  return { error: new UnreachableError(message), isTemporary: true, retryAfterMs: 0 };
}

/** To a page, a service that refuses its origin looks the same as one that is away. */
function originHint(address: string): string {
  const location: unknown = Reflect.get(globalThis, 'location');
  const origin = isObject(location) ? location.origin : undefined;
  if (typeof origin !== 'string' || origin === new URL(address).origin) return '';
  return `; if it runs, check that cors.origins in the agent file has ${origin}`;
}

/** What an answer says that is not the expected one. */
export function refusalOf({ status, headers }: Response, text: string, address: string): HandshakeRefusal {
  return {
    error: new RefusedError(errorBodyOf(status, text, address)),
    isTemporary: isTemporary(status),
    retryAfterMs: retryAfterMs(headers.get('retry-after')),
  };
}

/** The error of an answer, which may be of a proxy or of another server. */
export function errorBodyOf(status: number, text: string, address: string): ErrorBody {
  return bodyOf(text) ?? describe(status, withoutQuery(address));
}

function isTemporary(status: number): boolean {
  return status >= 500 || TEMPORARY_STATUSES.includes(status);
}

/** Version 0.1.0 answers with a text. */
function isService(text: string): boolean {
  return text.startsWith('agent-service ') || fieldsOf(text).status === 'ready';
}

/** The body of an error envelope. */
function bodyOf(text: string): ErrorBody | undefined {
  const { error } = fieldsOf(text);
  return isErrorBody(error) ? error : undefined;
}

function isErrorBody(value: unknown): value is ErrorBody {
  return (
    isObject(value) &&
    typeof value.code === 'string' &&
    typeof value.message === 'string' &&
    isObject(value.details)
  );
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : {};
  } catch {
    return {}; // A page of a proxy, or of another server.
  }
}

/** The error for an answer that is not from the service. A redirect has status 0 in browsers. */
function describe(status: number, address: string): ErrorBody {
  const details = { status, url: address };
  if (status === 401)
    return { code: 'UNAUTHORIZED', message: `${address} asks for authentication (401).`, details };
  if (status === 403) return { code: 'FORBIDDEN', message: `${address} refuses this client (403).`, details };
  if (status === 429)
    return { code: 'RATE_LIMIT_EXCEEDED', message: `${address} has too many requests (429).`, details };
  if (isTemporary(status))
    return { code: 'SERVICE_UNAVAILABLE', message: `${address} is not available (${status}).`, details };
  const found = status === 0 || (status >= 300 && status < 400) ? 'a redirect' : `status ${status}`;
  const message = `There is no agent-service at ${address}: it answers with ${found}. Check the address.`;
  return { code: 'INVALID_REQUEST', message, details };
}

function withoutQuery(address: string): string {
  const url = new URL(address);
  return url.origin + url.pathname;
}

/** The longest wait that is taken from an answer. A timer that is told to wait for weeks may end at once. */
const MAX_WAIT_MS = 60 * 60_000;

/** @param header seconds; a date is not used by the service. */
function retryAfterMs(header: string | null): number {
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1_000, MAX_WAIT_MS) : 0;
}
