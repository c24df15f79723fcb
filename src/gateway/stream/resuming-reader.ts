import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { StreamCursor, type StreamPosition } from '../../core/session/stream-cursor.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EncodeSignal, SignalFrames, SignalReader } from './signal-frames.ts';

/** Where a reader's frames go. */
export interface FrameSink {
  /** False when the client does not take it now and the sink keeps it. */
  send(frame: string): boolean;
  /** Bytes that the sink keeps. */
  bufferedBytes(): number;
}

export interface ResumingReaderParts {
  readonly bus: Bus;
  /** Who reads. */
  readonly context: RequestContext;
  readonly sink: FrameSink;
  readonly encode: EncodeSignal;
  readonly encodeResumed: (after: number, head: number) => string;
  /** Whether the client wants to be told what the model thinks aloud. */
  readonly wantsReasoning: boolean;
  /** The session was deleted: nothing follows. */
  readonly onEnd: () => void;
  /** The log could not be read. */
  readonly onError: (error: unknown) => void;
}

/** Beyond it a client that does not read is caught up from the log when it reads on. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Below it a client that was behind is caught up: not for each byte that it takes. */
const RESUME_BYTES = MAX_KEPT_BYTES / 4;
const PAGE_EVENTS = 200;

/**
 * One client's stream of a session, each event and each character once: first what it missed, from the log,
 * then live. A client that falls behind is treated as one that comes back: nothing is kept for it.
 */
export class ResumingReader implements SignalReader {
  readonly #sessionId: SessionId;
  readonly #parts: ResumingReaderParts;
  readonly #cursor: StreamCursor;
  #state: 'catching-up' | 'live' | 'behind' | 'closed' = 'catching-up';
  /** While it is not live: seq of the last event heard, and what was heard during the last look. */
  #heardSeq = 0;
  #held: SessionSignal[] | null = null;

  constructor(sessionId: SessionId, position: StreamPosition, parts: ResumingReaderParts) {
    this.#sessionId = sessionId;
    this.#parts = parts;
    this.#cursor = new StreamCursor(position);
  }

  /** To be called once, after the reader was joined to the session's signals. */
  start(): void {
    void this.#guard(async () => {
      const { bus, context } = this.#parts;
      const { head } = await bus.send('session.position', { sessionId: this.#sessionId }, context);
      if (this.#state === 'closed') return;
      this.#parts.sink.send(this.#parts.encodeResumed(this.#cursor.seq, head));
      await this.#catchUp();
    });
  }

  hear(signal: SessionSignal, frames: SignalFrames): void {
    if (this.#state === 'closed' || !this.#isWanted(signal)) return;
    // There are events that are told to nobody, such as those that a fork copies: the log has them.
    const isMissingSome = this.#state === 'live' && this.#cursor.skipsTo(signal);
    if (this.#state !== 'live' || isMissingSome) this.#note(signal);
    else this.#attempt(() => this.#deliver(signal, frames));
    if (isMissingSome) this.#startCatchingUp();
  }

  /** The client has taken of what the sink kept; the sink says so again until nothing is kept. */
  drained(): void {
    if (this.#state !== 'behind' || this.#parts.sink.bufferedBytes() > RESUME_BYTES) return;
    this.#startCatchingUp();
  }

  close(): void {
    this.#state = 'closed';
  }

  #isWanted(signal: SessionSignal): boolean {
    return 'event' in signal || signal.type !== 'reply.reasoning' || this.#parts.wantsReasoning;
  }

  #note(signal: SessionSignal): void {
    if ('event' in signal) this.#heardSeq = signal.seq;
    this.#held?.push(signal);
    // What the client lacks is being erased: there may be nothing to read any more.
    if (isDeletion(signal)) this.#end();
  }

  #startCatchingUp(): void {
    if (this.#state === 'closed') return;
    this.#state = 'catching-up';
    void this.#guard(() => this.#catchUp());
  }

  async #catchUp(): Promise<void> {
    const { bus, context } = this.#parts;
    const sessionId = this.#sessionId;
    while (this.#state === 'catching-up') {
      const wanted = { sessionId, afterSeq: this.#cursor.seq, limit: PAGE_EVENTS };
      const page = await bus.send('session.events', wanted, context);
      for (const envelope of page) this.#deliver(envelope);
      if (page.length > 0 || this.#heardSeq > this.#cursor.seq) continue;
      // At the head of the log. What is heard from here on is held, so that nothing is lost in between.
      this.#held = [];
      const { running, reasoning } = await bus.send('session.position', { sessionId }, context);
      const held = this.#held;
      this.#held = null;
      if (this.#state !== 'catching-up') return;
      // An event in between: the text may be of the step before it or after it.
      if (held.some((signal) => 'event' in signal)) continue;
      this.#state = 'live';
      if (reasoning && this.#isWanted(reasoning)) this.#deliver(reasoning);
      for (const signal of running ? [running, ...held] : held) this.#deliver(signal);
    }
  }

  #deliver(signal: SessionSignal, frames?: SignalFrames): void {
    if (this.#state === 'closed' || this.#state === 'behind') return;
    const { sink, encode } = this.#parts;
    const before = this.#cursor.seq;
    for (const due of this.#cursor.take(signal)) {
      const { seq, offset } = this.#placeAfter(due, before);
      const shared = due === signal ? frames?.encoded(encode, seq, offset) : undefined;
      const taken = sink.send(shared ?? encode(due, seq, offset));
      if (!taken && sink.bufferedBytes() > MAX_KEPT_BYTES) this.#state = 'behind';
    }
    if (isDeletion(signal)) this.#end();
  }

  /** The cursor stands after all that was due; text that was due before an event has a place of its own. */
  #placeAfter(due: SessionSignal, before: number): StreamPosition {
    const { seq, offset } = this.#cursor;
    if ('event' in due) return { seq, offset };
    return { seq: before, offset: due.type === 'reply.chunk' ? due.offset + due.content.length : offset };
  }

  /** Should the id be used again, that is another session, whose events begin at 1. */
  #end(): void {
    this.#state = 'closed';
    this.#parts.onEnd();
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#parts.onError(error);
  }
}

function isDeletion(signal: SessionSignal): boolean {
  return 'event' in signal && signal.event.type === 'session.deleted';
}
