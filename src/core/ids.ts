import { z } from 'zod';

/** Chosen by clients, so its alphabet is narrow. */
export const SessionId = z
  .string()
  .regex(
    /^[A-Za-z0-9_-][A-Za-z0-9._:@-]{0,127}$/,
    'must be 1 to 128 characters of A-Z a-z 0-9 _ - . : @ and start with a letter, digit, _ or -',
  )
  .describe('Names one conversation. `default` exists without asking.');
export type SessionId = z.infer<typeof SessionId>;

export const DEFAULT_SESSION_ID = 'default';

/** One user message up to its settled answer. A UUID made by the service. */
export const TurnId = z.string().min(1);
export type TurnId = z.infer<typeof TurnId>;

/** One tool call inside a turn; no other of the conversation that the model is shown has the same. */
export const CallId = z.string().min(1);
export type CallId = z.infer<typeof CallId>;
