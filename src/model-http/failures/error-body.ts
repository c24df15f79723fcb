import { z } from 'zod';

/** The facts of an error body in any of the known shapes. Its texts are the provider's: compare, but never show them. */
export interface ErrorBodyFacts {
  /** Codes, types and names of statuses, as found: `invalid_api_key`, `RESOURCE_EXHAUSTED`. */
  readonly codes: readonly string[];
  /** The HTTP status in the body. */
  readonly status: number | undefined;
  /** The field of the request that the error names. */
  readonly param: string | undefined;
  /** All sentences, in lower case and without what Bedrock puts before each error. */
  readonly text: string;
  readonly retryAfterMs: number | undefined;
  /** The limits that Google says were exceeded: `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
  readonly quotaIds: readonly string[];
}

const Fields = z.record(z.string(), z.unknown()).catch({});

/** Fields that may wrap the error. Inner objects are read first, because they are more specific. */
const WRAPPERS = [
  'error',
  'errors',
  'detail',
  'details',
  'response',
  'base_resp',
  'metadata',
  'innererror',
] as const;
const CODE_FIELDS = ['code', 'type', 'status', 'reason', 'err_code', 'error_type'] as const;
const TEXT_FIELDS = ['message', 'msg', 'detail', 'error', 'status_msg', 'raw'] as const;

/** Reads an error that is an object, a list with one object (Gemini), a sentence, or nested in something else. */
export function readErrorBody(body: unknown): ErrorBodyFacts {
  const objects = objectsIn(body);
  const texts = typeof body === 'string' ? [body] : objects.flatMap((fields) => textsOf(fields, TEXT_FIELDS));
  return {
    codes: objects.flatMap((fields) => textsOf(fields, CODE_FIELDS)),
    status: objects.map(statusOf).find((status) => status !== undefined),
    param: objects.map(paramOf).find((param) => param !== undefined),
    text: texts.join('\n').toLowerCase().replaceAll(BEDROCK_PREFIX, ''),
    retryAfterMs: objects.map(retryDelayOf).find((delay) => delay !== undefined),
    quotaIds: objects.flatMap(quotaIdsOf),
  };
}

/** A prefix that has the word `model` but names none. */
const BEDROCK_PREFIX = 'the model returned the following errors: ';

const MAX_DEPTH = 4;

function objectsIn(value: unknown, depth = 0): Record<string, unknown>[] {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => objectsIn(item, depth + 1));
  const fields = Fields.parse(value);
  const inner = WRAPPERS.flatMap((name) => objectsIn(fields[name], depth + 1));
  return [...inner, fields];
}

function textsOf(fields: Record<string, unknown>, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}

function statusOf({ status, code, status_code, http_status }: Record<string, unknown>): number | undefined {
  return [status, code, status_code, http_status].map(Number).find((n) => n >= 400 && n <= 599);
}

/** OpenAI's `param`, or FastAPI's `loc`, a list that begins with `body`. */
function paramOf({ param, loc }: Record<string, unknown>): string | undefined {
  if (typeof param === 'string' && param !== '') return param;
  if (!Array.isArray(loc)) return undefined;
  const path = loc.filter((step) => step !== 'body').join('.');
  return path === '' ? undefined : path;
}

/** Google's `RetryInfo`: a number of seconds, such as `34.5s`. */
function retryDelayOf({ retryDelay }: Record<string, unknown>): number | undefined {
  const seconds = typeof retryDelay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/** The ids of the quotas in Google's `QuotaFailure`. */
function quotaIdsOf({ violations }: Record<string, unknown>): string[] {
  return objectsIn(violations).flatMap((violation) => textsOf(violation, ['quotaId']));
}
