import type { ErrorBody } from '../core/errors.ts';
import type { ResumableFrame } from '../wire/frames.ts';

/**
 * The error that tells that the open turn of the session does not go on by itself, because the log has refused its events
 * again and again. It is no event of the log, and names no turn: the next message makes the turn go on.
 */
export function givenUpError(frame: ResumableFrame): ErrorBody | undefined {
  return frame.event === 'error' && frame.data.details.continues === false ? frame.data : undefined;
}
