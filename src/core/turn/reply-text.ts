/** Separates the texts of two steps. It is streamed, so it is part of the reply. */
const STEP_SEPARATOR = '\n\n';

/** The separator to stream before the first text of a step. @param replySoFar the texts of the steps before. */
export function separatorAfter(replySoFar: string): string {
  return replySoFar === '' ? '' : STEP_SEPARATOR;
}

/** The reply with the text of one more step. It equals the streamed chunks, joined. */
export function joinReply(replySoFar: string, stepText: string): string {
  return stepText === '' ? replySoFar : replySoFar + separatorAfter(replySoFar) + stepText;
}
