import { z } from 'zod';

/** As in the body of an error over REST, and in an `error` frame. */
const RefusalBody = z.object({
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown() }),
});
const Details = z.object({ reason: z.string() });

interface ErrorData {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** The service has answered, and it is a no. Anything else that fails is a connection that is lost. */
export class Refused extends Error {
  /** The service is stopping or starting: whoever asks again a moment later may get an answer. */
  readonly isPassing: boolean;

  private constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }

  static byResponse(status: number, body: string): Refused {
    const { data } = RefusalBody.safeParse(parse(body));
    return data ? Refused.byError(data.error) : new Refused(`HTTP ${status}`, status === 503);
  }

  /** With the reason where there is one, and what to do where the limits are in the way. */
  static byError({ code, message, details }: ErrorData): Refused {
    const known = Details.safeParse(details).data;
    const reason = known ? ` ${known.reason}` : '';
    const advice = code === 'RATE_LIMIT_EXCEEDED' ? ' Raise or switch off `limits` in its agent file.' : '';
    return new Refused(`${code}: ${message}${reason}${advice}`, code === 'SERVICE_UNAVAILABLE');
  }
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Of a name with several addresses, all of which failed.
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  // fetch says only that it failed; why, its cause says.
  return error instanceof TypeError && error.cause
    ? `${error.message}: ${reasonOf(error.cause)}`
    : error.message;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not from the service: the status says it.
  }
}
