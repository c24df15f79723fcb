/** Stands between the texts of two steps; it is streamed, so it is part of the reply. */
const STEP_SEPARATOR = '\n\n';

/** What must be streamed before a step's first text, given what the steps before it have said. */
export function separatorAfter(replySoFar: string): string {
  return replySoFar === '' ? '' : STEP_SEPARATOR;
}

/** The reply once one more step has spoken. The same rule, for whole texts: chunks add up to it exactly. */
export function joinReply(replySoFar: string, stepText: string): string {
  return stepText === '' ? replySoFar : replySoFar + separatorAfter(replySoFar) + stepText;
}
