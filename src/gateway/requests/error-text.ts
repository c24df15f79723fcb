import type { ErrorBody } from '../../core/errors.ts';

/** An error in sentences, for clients that show people the message alone: with its reason and its advice. */
export function errorText(error: Pick<ErrorBody, 'code' | 'message' | 'details'>): string {
  const { suggestion } = error.details;
  const said = [error.message, shownReason(error), suggestion].filter((text) => typeof text === 'string');
  const last = said.length - 1;
  return said.map((text, index) => asSentence(text, index > 0, index < last)).join(' ');
}

/** Undefined if the message says it already. That of `UNAUTHORIZED` is a word for programs, and its message says the same. */
function shownReason({ code, message, details }: Pick<ErrorBody, 'code' | 'message' | 'details'>): unknown {
  const { reason } = details;
  const isSaid = typeof reason === 'string' && message.toLowerCase().includes(reason.toLowerCase());
  return code === 'UNAUTHORIZED' || isSaid ? undefined : reason;
}

/** A reason begins with a small letter. If its first word may be a name, such as `get-sum`, it stays as it is. */
function asSentence(text: string, isLater: boolean, goesOn: boolean): string {
  const begun = isLater && /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return goesOn && /[\p{L}\p{N})\]"'`]$/u.test(begun) ? `${begun}.` : begun;
}
