import type { StreamEvent } from '../../client/session-client.ts';

/** A durable event of the session, as a frame, and when it was appended (ISO 8601 UTC). */
export type TimedEvent = StreamEvent & {
  readonly seq: number;
  readonly time: string;
  /** What was said of the step in which the turn was cut off. */
  readonly partial?: string;
};
