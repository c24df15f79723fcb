import type { Envelope } from '../log/envelope.ts';
import type { SessionEvent } from '../log/events.ts';
import { reasoningText, spokenText } from '../turn/step-parts.ts';
import type { ReplyChunk, ReplyReasoning, SessionSignal } from './session-signal.ts';

/** The position of one reader in a session: it has every event up to `seq`, and then `offset` of the running step. */
export interface StreamPosition {
  readonly seq: number;
  /** Length of what the reader has of the running step's text, separator included, in UTF-16 code units. */
  readonly offset: number;
}

interface Step {
  readonly turnId: string;
  readonly step: number;
}

/**
 * Keeps the position of one reader in a session. It takes events of the log and live signals in any mixture, and
 * returns each event and each character exactly once, in order. It changes nothing but its own position.
 */
export class StreamCursor {
  #seq: number;
  #offset: number;
  /** The step that the offset refers to; null until a signal of that step comes. */
  #step: Step | null = null;
  /** How much of the running step's reasoning the reader has; null before the first piece. */
  #reasoning: (Step & { offset: number }) | null = null;
  /** The latest step that an event has ended. */
  #ended: Step | null = null;
  readonly #takesKeptReasoning: boolean;

  /** @param options.takesKeptReasoning whether reasoning that the reader lacks is taken from the log, if it has it. */
  constructor({ seq, offset }: StreamPosition, { takesKeptReasoning = false } = {}) {
    this.#seq = seq;
    this.#offset = offset;
    this.#takesKeptReasoning = takesKeptReasoning;
  }

  get seq(): number {
    return this.#seq;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Whether the signal is an event and the reader lacks the one before it. */
  skipsTo(signal: SessionSignal): boolean {
    return 'event' in signal && signal.seq > this.#seq + 1;
  }

  /** Whether the reader lacks text that comes before this one. */
  lacksBefore({ turnId, step, offset, content }: ReplyChunk): boolean {
    if (content === '' || (this.#ended?.turnId === turnId && step <= this.#ended.step)) return false;
    const isSameStep = this.#step === null || (this.#step.turnId === turnId && this.#step.step === step);
    return offset > (isSameStep ? this.#offset : 0);
  }

  /** Returns what the reader lacks of this signal. Throws if something before the signal is missing. */
  take(signal: SessionSignal): SessionSignal[] {
    if ('event' in signal) {
      if (signal.seq <= this.#seq) return [];
      if (this.skipsTo(signal)) throw new Error(`event ${signal.seq} follows event ${this.#seq}`);
      const thought = this.#takesKeptReasoning ? keptReasoning(signal) : [];
      const rest = [
        ...thought.flatMap((reasoning) => this.#takeReasoning(reasoning)),
        ...streamedText(signal).flatMap((text) => this.#takeText(text)),
      ];
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
    // A reader of the log may be ahead of the session in memory, and then has this text already.
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

  /** Missing reasoning may not be in the log, so a gap in it stays a gap. */
  #takeReasoning(piece: ReplyReasoning): ReplyReasoning[] {
    const { turnId, step, offset, content } = piece;
    if (this.#ended?.turnId === turnId && step <= this.#ended.step) return [];
    if (this.#reasoning?.turnId !== turnId || this.#reasoning.step !== step)
      this.#reasoning = { turnId, step, offset: 0 };
    const known = Math.max(0, this.#reasoning.offset - offset);
    if (known >= content.length) return [];
    this.#reasoning.offset = offset + content.length;
    return known === 0 ? [piece] : [{ ...piece, offset: offset + known, content: content.slice(known) }];
  }

  #endStep(event: SessionEvent): void {
    switch (event.type) {
      case 'turn.cancelled':
        // The turn was cancelled while it waited. The running text is that of another turn.
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
    if (step === null) this.#reasoning = null;
    this.#step = step;
    this.#offset = 0;
  }
}

/** The whole text of the step that the event ends, as it was streamed. */
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

/** The whole reasoning of the step that the event ends, as far as the log has it. */
function keptReasoning({ event, sessionId }: Envelope): ReplyReasoning[] {
  if (event.type !== 'step.completed') return [];
  const { turnId, step, parts } = event;
  const content = reasoningText(parts);
  return content === '' ? [] : [{ type: 'reply.reasoning', sessionId, turnId, step, offset: 0, content }];
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
