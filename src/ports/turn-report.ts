import type { AgentId } from '../core/agent-description.ts';
import type { SessionId, TurnId } from '../core/ids.ts';
import type { Envelope } from '../core/log/envelope.ts';

/** The turn that is told of. */
export interface ReportedTurn {
  readonly agentId: AgentId;
  /** As the client calls it. */
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** Seq of an event of the session that is before the turn. */
  readonly afterSeq: number;
  /** Up to this seq of the session, the receiver is told what the turn is and not how it came to be so. */
  readonly head: number;
}

/** A turn as a protocol tells of it. What it says depends on the events alone. */
export interface TurnReport {
  /** Whether an event of the turn has come. */
  readonly hasBegun: boolean;
  /** Whether nothing follows. */
  readonly isOver: boolean;
  /** @returns what the event changes, one body of a notification each. @param envelope the next event of the session. */
  take(envelope: Envelope): readonly object[];
}

export type ReportTurn = (turn: ReportedTurn) => TurnReport;
