import { issueWording } from './issue-wording.ts';

/**
 * Option of `safeParse`: a parse ends at the first fault. Only that is told, and a list may have a million of them. zod's types
 * have this option for its own `validate` only.
 */
export const FIRST_FAULT = { error: issueWording, abortEarly: true };
