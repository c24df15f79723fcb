import { z } from 'zod';

/** What an error body says, whichever of the known shapes it has. Texts are the provider's and for comparing only. */
export interface ErrorBodyFacts {
  /** Codes, types and statuses in words, as they were found: `invalid_api_key`, `RESOURCE_EXHAUSTED`. */
  readonly codes: readonly string[];
  /** An HTTP status that stands in the body. */
  readonly status: number | undefined;
  /** The field of the request that is named. */
  readonly param: string | undefined;
  /** All sentences, in lower case. */
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

const Fields = z.record(z.string(), z.unknown()).catch({});

/** Wrappers around the fields that tell something. Deeper ones come first: they say more. */
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
const TEXT_FIELDS = ['message', 'msg', 'detail', 'error', 'status_msg', 'raw', 'failed_generation'] as const;

/** Reads the error whether it is an object, a list of one (Gemini), a sentence, or nested in something else. */
export function readErrorBody(body: unknown): ErrorBodyFacts {
  const objects = objectsIn(body);
  const texts = typeof body === 'string' ? [body] : objects.flatMap((fields) => textsOf(fields, TEXT_FIELDS));
  return {
    codes: objects.flatMap((fields) => textsOf(fields, CODE_FIELDS)),
    status: objects.map(statusOf).find((status) => status !== undefined),
    param: objects.map(paramOf).find((param) => param !== undefined),
    text: texts.join('\n').toLowerCase(),
    retryAfterMs: objects.map(retryDelayOf).find((delay) => delay !== undefined),
  };
}

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

/** OpenAI's `param`; the `loc` of servers made with FastAPI is a list that begins with `body`. */
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
