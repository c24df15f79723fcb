import type { ErrorBody } from '../errors.ts';
import type { SessionId, TurnId } from '../ids.ts';
import type { Envelope } from '../log/envelope.ts';

/**
 * Ephemeral: a piece of what the model thinks aloud, on the bus only. `offset` counts UTF-16 code units from the start
 * of what this step has thought.
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
 * Ephemeral: a piece of the reply, on the bus only. `offset` counts UTF-16 code units from the start of
 * what this step has streamed, its separator included; the durable `step.completed` has the whole of it.
 */
export interface ReplyChunk {
  readonly type: 'reply.chunk';
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly step: number;
  readonly offset: number;
  readonly content: string;
}

/** Ephemeral: the session could not go on (the log refused it). Turns that were under way have no answer now, and go on later. */
export interface SessionFault {
  readonly type: 'session.fault';
  readonly sessionId: SessionId;
  readonly error: ErrorBody;
}

/** All that is heard of a session: facts from the log, and what is only of the moment. */
export type SessionSignal = Envelope | ReplyChunk | ReplyReasoning | SessionFault;
