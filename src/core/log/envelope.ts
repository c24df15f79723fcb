import type { SessionId } from '../ids.ts';
import type { LoggedEvent, SessionEvent } from './events.ts';
import type { RecordedEvent } from './recorded-event.ts';

/** An event as the log stores it: with its metadata, session, position and time. */
export interface Envelope<E extends LoggedEvent = SessionEvent> extends RecordedEvent<E> {
  readonly sessionId: SessionId;
  /** Position in its session: 1, 2, 3 … without holes. */
  readonly seq: number;
  /** When it was appended: milliseconds since the epoch. */
  readonly time: number;
}
