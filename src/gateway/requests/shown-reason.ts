import type { ErrorBody } from '../../core/errors.ts';

/**
 * The reason of an error, for clients that show people the message alone. That of `UNAUTHORIZED` is a word for programs, and
 * its message says the same.
 */
export function shownReason({ code, details }: Pick<ErrorBody, 'code' | 'details'>): string | undefined {
  const { reason } = details;
  return typeof reason === 'string' && code !== 'UNAUTHORIZED' ? reason : undefined;
}
