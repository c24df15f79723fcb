import { errorBodyOf } from '../../client/handshake-refusal.ts';
import type { ErrorBody } from '../../core/errors.ts';

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

/** Why the answer is a refusal, with `retryAfter` in seconds if it says when to ask again. A proxy that does not reach the service answers in its own words. */
export async function refused(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const body = errorBodyOf(response.status, text, response.url);
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const details = Number.isNaN(retryAfter) ? body.details : { ...body.details, retryAfter };
  return new ApiError({ ...body, details });
}

/** The error as text for people: the message of the service, and its reason in parentheses. */
export function errorText(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const { reason, issue, field } = error.details;
  const why = [field, issue ?? reason].filter((part) => typeof part === 'string').join(': ');
  return why === '' ? error.message : `${error.message} (${why})`;
}
