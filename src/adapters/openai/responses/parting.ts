/** A blank line parts the messages of one response, and the parts of its reasoning: a user reads one text. */
export const PARTING = '\n\n';
