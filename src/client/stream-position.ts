import type { ResumableFrame } from '../wire/frames.ts';
import { ProtocolError } from './session-errors.ts';

/**
 * What the iterator yields: the frames of the resumable stream, except `resumed`, `accepted` and `done`. Durable events have a
 * `seq`; `chunk` and reasoning have a `turnId`, `step` and `offset`.
 */
export type StreamEvent = Exclude<ResumableFrame, { event: 'resumed' | 'accepted' | 'done' }>;

/** How much of a step's reasoning a reader has received. */
export interface ReasoningPosition {
  readonly turnId: string;
  readonly step: number;
  /** In UTF-16 code units. */
  readonly offset: number;
}

/**
 * How far a reader has read: every event up to `seq`, and `offset` code units of the step that runs after it. It is
 * plain JSON, so it can be stored.
 */
export interface StreamPosition {
  /** Of the last event read; 0 before the first. */
  readonly seq: number;
  /** The step that `offset` counts in; null before its first text. */
  readonly turnId: string | null;
  readonly step: number | null;
  /** How much of the running step's text was read, in UTF-16 code units. */
  readonly offset: number;
  /** Of the running step. Absent before its first reasoning, and when `reasoning` was not asked for. */
  readonly reasoning?: ReasoningPosition;
}

/** Nothing has been read. */
export const START: StreamPosition = { seq: 0, turnId: null, step: null, offset: 0 };

/** The reader's position after a frame, and the new part of the frame: null when the reader already had all of it. */
export interface Advance {
  readonly position: StreamPosition;
  readonly frame: StreamEvent | null;
}

/**
 * Removes from a frame what the reader already has, so that each event and each character comes once and in order.
 * @throws ProtocolError when something between the position and the frame is missing.
 */
export function advance(position: StreamPosition, frame: StreamEvent): Advance {
  if (frame.seq !== undefined) return advanceByEvent(position, frame, frame.seq);
  switch (frame.event) {
    case 'chunk':
      return advanceByText(position, frame);
    case 'thinking':
      return advanceByReasoning(position, frame);
    default:
      return { position, frame };
  }
}

function advanceByEvent(position: StreamPosition, frame: StreamEvent, seq: number): Advance {
  if (seq <= position.seq) return { position, frame: null };
  if (seq !== position.seq + 1) throw new ProtocolError(`event ${seq} came after event ${position.seq}`);
  const { turnId, step, offset } = endsStep(position.turnId, frame) ? START : position;
  const { reasoning } = position;
  const goesOn = reasoning !== undefined && !endsStep(reasoning.turnId, frame);
  return { position: { seq, turnId, step, offset, ...(goesOn && { reasoning }) }, frame };
}

/** Whether the frame ends the step that was streaming for that turn (null: for any turn). */
function endsStep(turnId: string | null, frame: StreamEvent): boolean {
  switch (frame.event) {
    case 'stepCompleted':
    case 'turnResumed':
      return true;
    case 'error':
      // A turn that is cancelled while it waits does not end the text of the running turn.
      return turnId === null || turnId === frame.turnId;
    default:
      return false;
  }
}

type ChunkFrame = Extract<StreamEvent, { event: 'chunk' }>;

function advanceByText(position: StreamPosition, frame: ChunkFrame): Advance {
  const { turnId, step, offset: start } = frame;
  if (turnId === undefined || step === undefined || start === undefined)
    throw new ProtocolError('a chunk came without its turn, step or offset');
  const isSameStep = position.turnId === null || (position.turnId === turnId && position.step === step);
  const known = (isSameStep ? position.offset : 0) - start;
  const { content } = frame.data;
  if (known < 0) throw new ProtocolError(`text at ${start} came after text up to ${start + known}`);
  if (known >= content.length) return { position, frame: null };
  const next = { ...position, turnId, step, offset: start + content.length };
  if (known === 0) return { position: next, frame };
  return {
    position: next,
    frame: { ...frame, offset: start + known, data: { content: content.slice(known) } },
  };
}

type ThinkingFrame = Extract<StreamEvent, { event: 'thinking' }>;

/** After each reconnect the service sends the running step's reasoning again from its beginning. */
function advanceByReasoning(position: StreamPosition, frame: ThinkingFrame): Advance {
  const { turnId, step, offset: start, data } = frame;
  const { reasoning } = data;
  if (reasoning === undefined) return { position, frame };
  if (turnId === undefined || step === undefined || start === undefined)
    throw new ProtocolError('reasoning came without its turn, step or offset');
  const before = position.reasoning;
  const has = before?.turnId === turnId && before.step === step ? before.offset : 0;
  // Reasoning is not in the log, so the service cannot fill a gap: it is not an error.
  const known = Math.max(0, has - start);
  if (known >= reasoning.length) return { position, frame: null };
  const next = { ...position, reasoning: { turnId, step, offset: start + reasoning.length } };
  if (known === 0) return { position: next, frame };
  return {
    position: next,
    frame: { ...frame, offset: start + known, data: { ...data, reasoning: reasoning.slice(known) } },
  };
}
