import { z } from 'zod';

/** Goes into a header of HTTP. */
const headerText = (most: number) =>
  z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${most}}$`), `must be 1 to ${most} visible ASCII characters`);

/** How the service shows a receiver that it may send: the header `Authorization`. */
export const PushAuthentication = z.object({
  scheme: headerText(50),
  credentials: headerText(8_000).optional(),
});

/** Names a config among those of its turn. It is a part of the name of a stream. */
export const PushConfigId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 characters of A-Z a-z 0-9 _ -');

/** Where to send what becomes of a turn. */
export const PushConfig = z.object({
  id: PushConfigId,
  url: z.string().max(2_000, 'must have at most 2000 characters'),
  /** The receiver gets it with each notification. */
  token: headerText(1_000).optional(),
  authentication: PushAuthentication.optional(),
});
export type PushConfig = z.infer<typeof PushConfig>;

/** A config as clients see it again: what is secret in it stays in the log. */
export type ShownPushConfig = Pick<PushConfig, 'id' | 'url'> & { readonly scheme?: string | undefined };

/** What is kept of a config, encrypted. */
export const KeptPush = z.object({
  config: PushConfig,
  /** What the ids of the messages to the receiver begin with. */
  pushId: z.string(),
  /** Who gets the notifications, and by which agent. The session is called as this client calls it. */
  client: z.object({ principal: z.string(), tenant: z.string(), agent: z.string() }),
  sessionId: z.string(),
  turnId: z.string(),
  /** Seq of an event of the session that is before the turn. */
  afterSeq: z.int(),
  /** Seq of the last event of the session when the config was made. The receiver is not told of the events before it one by one. */
  head: z.int(),
});
export type KeptPush = z.infer<typeof KeptPush>;
