/** Put between the messages of one response, and between the parts of its reasoning, which a user reads as one text. */
export const PARTING = '\n\n';
