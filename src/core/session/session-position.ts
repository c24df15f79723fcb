import type { ReplyChunk, ReplyReasoning } from './session-signal.ts';

/** How far a session is: the seq of its last event, and what the running step has streamed so far. */
export interface SessionPosition {
  readonly head: number;
  readonly running: ReplyChunk | null;
  readonly reasoning: ReplyReasoning | null;
}

/** The position of a session in which no step runs. */
export function positionAt(head: number): SessionPosition {
  return { head, running: null, reasoning: null };
}
