import type { StreamEvent } from '../../client/session-client.ts';

/** The frame of a durable event, with the time when it was appended (ISO 8601 UTC). */
export type TimedEvent = StreamEvent & {
  readonly seq: number;
  readonly time: string;
  /** The text of the unfinished step of a turn that failed or was cancelled. */
  readonly partial?: string;
};
