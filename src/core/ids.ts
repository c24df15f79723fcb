import { z } from 'zod';

/** The id of a session. Clients choose it, so its alphabet is narrow. */
export const SessionId = z
  .string()
  .regex(
    // What comes before a second slash are the tenant and the principal that a session belongs to. The longest principal
    // has 200 characters that are percent-encoded, each as nine.
    /^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[A-Za-z0-9._:@%-]{1,2000}\/)?[A-Za-z0-9_-][A-Za-z0-9._:@-]{0,127}$/,
    'must be 1 to 128 characters of A-Z a-z 0-9 _ - . : @ and start with a letter, digit, _ or -',
  )
  .describe(
    'The id of a session, which is one conversation. `default` is the session of clients that name none. Where clients are authenticated, each has its own sessions, and those of others have ids such as `acme/key:ci/default`.',
  );
export type SessionId = z.infer<typeof SessionId>;

export const DEFAULT_SESSION_ID = 'default';

/** The id of a turn, which is one message of the user and all that follows from it. A UUID made by the service. */
export const TurnId = z.string().min(1);
export type TurnId = z.infer<typeof TurnId>;

/** The id of a tool call. It is unique among the calls that the model is shown. */
export const CallId = z.string().min(1, 'must not be empty');
export type CallId = z.infer<typeof CallId>;
