import type { ResumableFrame } from '../wire/frames.ts';
import { ProtocolError } from './session-errors.ts';

/** What the iterator gives: all frames but those that speak of the connection and of single messages. */
export type StreamEvent = Exclude<ResumableFrame, { event: 'resumed' | 'accepted' }>;

/** How much of one step's reasoning a reader has. */
export interface ReasoningPosition {
  readonly turnId: string;
  readonly step: number;
  /** UTF-16 code units. */
  readonly offset: number;
}

/** What one reader of a session has: every event up to `seq`, and so much of the text of the step after it. */
export interface StreamPosition {
  readonly seq: number;
  /** The step that `offset` counts in; null before its first text. */
  readonly turnId: string | null;
  readonly step: number | null;
  /** UTF-16 code units of the running step's text. */
  readonly offset: number;
  /** Of the running step; left out before its first reasoning, and where none was asked for. */
  readonly reasoning?: ReasoningPosition;
}

export const START: StreamPosition = { seq: 0, turnId: null, step: null, offset: 0 };

/** A frame that is new to the reader, as far as it is new, and where the reader stands after it. */
export interface Advance {
  readonly position: StreamPosition;
  readonly frame: StreamEvent | null;
}

/** Each event and each character once, in order. Throws on a gap. */
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

/** After it nothing that the step of that turn had streamed before it is still to come. */
function endsStep(turnId: string | null, frame: StreamEvent): boolean {
  switch (frame.event) {
    case 'stepCompleted':
    case 'turnResumed':
      return true;
    case 'error':
      // A turn that is cancelled while it waits does not end the text of the one that runs.
      return turnId === null || turnId === frame.turnId;
    default:
      return false;
  }
}

type ChunkFrame = Extract<StreamEvent, { event: 'chunk' }>;

function advanceByText(position: StreamPosition, frame: ChunkFrame): Advance {
  const { turnId, step, offset: start } = frame;
  if (turnId === undefined || step === undefined || start === undefined)
    throw new ProtocolError('a chunk came without its place');
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

/** After each reconnect the service tells all that the running step has thought so far. */
function advanceByReasoning(position: StreamPosition, frame: ThinkingFrame): Advance {
  const { turnId, step, offset: start, data } = frame;
  const { reasoning } = data;
  if (reasoning === undefined) return { position, frame };
  if (turnId === undefined || step === undefined || start === undefined)
    throw new ProtocolError('reasoning came without its place');
  const before = position.reasoning;
  const has = before?.turnId === turnId && before.step === step ? before.offset : 0;
  // Reasoning is in no log: what the service cannot tell any more stays a gap.
  const known = Math.max(0, has - start);
  if (known >= reasoning.length) return { position, frame: null };
  const next = { ...position, reasoning: { turnId, step, offset: start + reasoning.length } };
  if (known === 0) return { position: next, frame };
  return {
    position: next,
    frame: { ...frame, offset: start + known, data: { ...data, reasoning: reasoning.slice(known) } },
  };
}
