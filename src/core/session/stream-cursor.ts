import type { Envelope } from '../log/envelope.ts';
import type { SessionEvent } from '../log/events.ts';
import { spokenText } from '../turn/step-parts.ts';
import type { ReplyChunk, ReplyReasoning, SessionSignal } from './session-signal.ts';

/** What one reader of a session has: every event up to `seq`, and so much of the text of the step after it. */
export interface StreamPosition {
  readonly seq: number;
  /** UTF-16 code units of the running step's text, its separator included. */
  readonly offset: number;
}

interface Step {
  readonly turnId: string;
  readonly step: number;
}

/**
 * Keeps one reader's place in a session, whatever mix of log and live signals it is fed: each event and each
 * character once, in order. Pure but for its own place.
 */
export class StreamCursor {
  #seq: number;
  #offset: number;
  /** The step that the offset counts in; null while only the reader knows. */
  #step: Step | null = null;
  /** How much of the running step's reasoning the reader has; null before the first piece. */
  #thought: (Step & { offset: number }) | null = null;
  /** The last step that an event has ended. */
  #ended: Step | null = null;

  constructor({ seq, offset }: StreamPosition) {
    this.#seq = seq;
    this.#offset = offset;
  }

  get seq(): number {
    return this.#seq;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Whether the signal is an event that follows others the reader does not have. */
  skipsTo(signal: SessionSignal): boolean {
    return 'event' in signal && signal.seq > this.#seq + 1;
  }

  /** What the reader lacks of this signal. Throws on a gap: then something before it was not fed. */
  take(signal: SessionSignal): SessionSignal[] {
    if ('event' in signal) {
      if (signal.seq <= this.#seq) return [];
      if (this.skipsTo(signal)) throw new Error(`event ${signal.seq} follows event ${this.#seq}`);
      const rest = streamedText(signal).flatMap((text) => this.#takeText(text));
      this.#seq = signal.seq;
      this.#endStep(signal.event);
      return [...rest, signal];
    }
    switch (signal.type) {
      case 'reply.chunk':
        return this.#takeText(signal);
      case 'reply.reasoning':
        return this.#takeReasoning(signal);
      case 'session.fault':
        return [signal];
      default:
        return signal satisfies never;
    }
  }

  #takeText(chunk: ReplyChunk): ReplyChunk[] {
    if (chunk.content === '') return [];
    const { turnId, step } = chunk;
    // The log may be ahead of the session in memory, which then still says what the log has said.
    if (this.#ended?.turnId === turnId && step <= this.#ended.step) return [];
    if (this.#step === null) this.#step = { turnId, step };
    else if (this.#step.turnId !== turnId || this.#step.step !== step) this.#beginStep({ turnId, step });
    const known = this.#offset - chunk.offset;
    if (known < 0) throw new Error(`text at ${chunk.offset} follows text up to ${this.#offset}`);
    if (known >= chunk.content.length) return [];
    this.#offset = chunk.offset + chunk.content.length;
    return known === 0
      ? [chunk]
      : [{ ...chunk, offset: chunk.offset + known, content: chunk.content.slice(known) }];
  }

  /** Reasoning is in no log, so a gap in it stays a gap. */
  #takeReasoning(piece: ReplyReasoning): ReplyReasoning[] {
    const { turnId, step, offset, content } = piece;
    if (this.#ended?.turnId === turnId && step <= this.#ended.step) return [];
    if (this.#thought?.turnId !== turnId || this.#thought.step !== step)
      this.#thought = { turnId, step, offset: 0 };
    const known = Math.max(0, this.#thought.offset - offset);
    if (known >= content.length) return [];
    this.#thought.offset = offset + content.length;
    return known === 0 ? [piece] : [{ ...piece, offset: offset + known, content: content.slice(known) }];
  }

  #endStep(event: SessionEvent): void {
    switch (event.type) {
      case 'turn.cancelled':
        // Cancelled while it waited: it has made no step, and the text is another turn's.
        if (event.step === 0) return;
        break;
      case 'step.completed':
      case 'turn.failed':
        break;
      case 'turn.resumed':
        this.#beginStep(null);
        return;
      default:
        return;
    }
    this.#ended = { turnId: event.turnId, step: event.step };
    this.#beginStep(null);
  }

  #beginStep(step: Step | null): void {
    if (step === null) this.#thought = null;
    this.#step = step;
    this.#offset = 0;
  }
}

/** All that was streamed of the text that this event puts into the log. */
function streamedText({ event, sessionId }: Envelope): ReplyChunk[] {
  switch (event.type) {
    case 'step.completed':
      return [{ ...chunkOf(event), content: event.separator + spokenText(event.parts), sessionId }];
    case 'turn.failed':
    case 'turn.cancelled':
      return [{ ...chunkOf(event), content: event.separator + event.partial, sessionId }];
    default:
      return [];
  }
}

function chunkOf({
  turnId,
  step,
}: {
  turnId: string;
  step: number;
}): Omit<ReplyChunk, 'sessionId' | 'content'> {
  return { type: 'reply.chunk', turnId, step, offset: 0 };
}
