import type { ErrorBody } from '../errors.ts';
import type { SessionId, TurnId } from '../ids.ts';
import type { Envelope } from '../log/envelope.ts';

/**
 * A piece of the model's reasoning. Ephemeral: it is on the bus only. `offset` is its position in the reasoning of the
 * step, in UTF-16 code units.
 */
export interface ReplyReasoning {
  readonly type: 'reply.reasoning';
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly offset: number;
  readonly content: string;
}

/**
 * A piece of the reply's text. Ephemeral: it is on the bus only. `offset` is its position in the text of the step, in
 * UTF-16 code units, with the separator counted. The event `step.completed` has the whole text.
 */
export interface ReplyChunk {
  readonly type: 'reply.chunk';
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly offset: number;
  readonly content: string;
}

/** The log refused an append, so the session left memory. `details.continues` says whether its open turn goes on by itself. Ephemeral. */
export interface SessionFault {
  readonly type: 'session.fault';
  readonly sessionId: SessionId;
  readonly error: ErrorBody;
}

/** What a subscriber hears of a session: events of the log, and ephemeral signals. */
export type SessionSignal = Envelope | ReplyChunk | ReplyReasoning | SessionFault;
