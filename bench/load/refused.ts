import { z } from 'zod';

/** The body of a REST error. */
const RefusalBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown() }),
});
const Details = z.object({ reason: z.string() });
/** When the limit ends, in Unix seconds. */
const LimitDetails = z.object({ resetTime: z.number() });
/** The end of a limit is rounded to a second. */
const MIN_WAIT_MS = 200;

interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** The service answered with an error. Any other failure counts as a lost connection. */
export class Refused extends Error {
  /** The service is starting or stopping, so a later attempt may succeed. */
  readonly isTemporary: boolean;
  /** How long to wait for the end of a limit; null for another refusal. */
  readonly limitMs: number | null;

  private constructor(message: string, isTemporary: boolean, limitMs: number | null = null) {
    super(message);
    this.isTemporary = isTemporary;
    this.limitMs = limitMs;
  }

  static byResponse(status: number, body: string): Refused {
    const { data } = RefusalBody.safeParse(parse(body));
    return data ? Refused.byError(data.error) : new Refused(`HTTP ${status}`, status === 503);
  }

  /** The message has the reason of the service and, for its rate limits, what to do. */
  static byError({ code, message, details }: ErrorData): Refused {
    const known = Details.safeParse(details).data;
    const reason = known ? ` ${known.reason}` : '';
    const advice = code === 'RATE_LIMIT_EXCEEDED' ? ' Raise or switch off `limits` in its agent file.' : '';
    const limit = LimitDetails.safeParse(details).data;
    const limitMs = limit ? Math.max(MIN_WAIT_MS, limit.resetTime * 1_000 - Date.now()) : null;
    return new Refused(`${code}: ${message}${reason}${advice}`, code === 'SERVICE_UNAVAILABLE', limitMs);
  }
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node throws it when a host name has several addresses and all fail.
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  // The message of fetch says only that it failed. Its cause says why.
  return error instanceof TypeError && error.cause
    ? `${error.message}: ${reasonOf(error.cause)}`
    : error.message;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not an answer of the service. The caller reports the status instead.
  }
}
