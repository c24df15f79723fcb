import { ServiceError } from '../../core/errors.ts';

/** How things that a task waits for are named in errors. */
export interface WaitingKind {
  /** One of them, such as `call`. */
  readonly noun: string;
  /** The field of an answer that says which one is meant, such as `callId`. */
  readonly field: string;
  /** What each of them waits for, such as `approval`. */
  readonly need: string;
  /** What the task waits for if one of them waits, such as `an approval`, and if several do. */
  readonly one: string;
  readonly several: string;
  /** The part that answers. */
  readonly part: string;
}

/**
 * The id of the one that an answer is for. Throws if that is not clear.
 *
 * @param named the id in the answer. It may be absent where one alone waits.
 */
export function meantId(named: string | undefined, waiting: readonly string[], kind: WaitingKind): string {
  if (named !== undefined && !waiting.includes(named)) throw notWaiting(named, waiting, kind);
  const meant = named ?? (waiting.length === 1 ? waiting[0] : undefined);
  if (meant === undefined) throw severalWait(waiting, kind);
  return meant;
}

/** @param parts what a client may send. */
export function suggestionOf(...parts: readonly string[]): string {
  return `Send one part: ${parts.join(', or ')}.`;
}

function severalWait(waiting: readonly string[], kind: WaitingKind): ServiceError {
  return new ServiceError('INVALID_REQUEST', `The task waits for ${kind.several}.`, {
    field: 'message.parts',
    issue: `it does not say for which ${kind.noun} it is`,
    waiting,
    suggestion: suggestionOf(kind.part),
  });
}

function notWaiting(
  id: string,
  waiting: readonly string[],
  { noun, field, need }: WaitingKind,
): ServiceError {
  return new ServiceError('INVALID_REQUEST', `No ${noun} ${id} of the task waits for ${need}.`, {
    field: 'message.parts',
    issue: `its ${field} is of no ${noun} that waits`,
    waiting,
  });
}
