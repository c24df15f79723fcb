import type { ResumableFrame } from '../contract/frames.ts';
import { ProtocolError } from './session-errors.ts';

/** What the iterator gives: all frames but those that speak of the connection and of single messages. */
export type StreamEvent = Exclude<ResumableFrame, { event: 'resumed' | 'accepted' }>;

/** What one reader of a session has: every event up to `seq`, and so much of the text of the step after it. */
export interface StreamPosition {
  readonly seq: number;
  /** The step that `offset` counts in; null before its first text. */
  readonly turnId: string | null;
  readonly step: number | null;
  /** UTF-16 code units of the running step's text. */
  readonly offset: number;
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
  return frame.event === 'chunk' ? advanceByText(position, frame) : { position, frame };
}

function advanceByEvent(position: StreamPosition, frame: StreamEvent, seq: number): Advance {
  if (seq <= position.seq) return { position, frame: null };
  if (seq !== position.seq + 1) throw new ProtocolError(`event ${seq} came after event ${position.seq}`);
  return { position: endsText(position, frame) ? { ...START, seq } : { ...position, seq }, frame };
}

/** After it nothing of the text before it is still to come. */
function endsText({ turnId }: StreamPosition, frame: StreamEvent): boolean {
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
  const next = { seq: position.seq, turnId, step, offset: start + content.length };
  if (known === 0) return { position: next, frame };
  return {
    position: next,
    frame: { ...frame, offset: start + known, data: { content: content.slice(known) } },
  };
}
