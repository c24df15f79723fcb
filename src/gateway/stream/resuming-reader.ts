import { withOwnKey } from '../../core/access/session-keys.ts';
import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { StreamCursor, type StreamPosition } from '../../core/session/stream-cursor.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EncodeSignal, SignalFrames, SignalReader } from './signal-frames.ts';

/** Receives the frames of a reader. */
export interface FrameSink {
  /** False if the client does not read and the sink buffers the frame. */
  send(frame: string): boolean;
  /** Bytes that wait for the client to read. */
  bufferedBytes(): number;
}

export interface ResumingReaderDeps {
  readonly bus: Bus;
  /** Who reads, with the rights of now. */
  readonly context: () => RequestContext;
  readonly sink: FrameSink;
  readonly encode: EncodeSignal;
  readonly encodeResumed: (after: number, head: number) => string;
  /** Whether the client wants the reasoning of the model. */
  readonly wantsReasoning: boolean;
  /** Whether reasoning that the client has missed comes from the log, where the log has it. */
  readonly takesKeptReasoning?: boolean;
  /** The first frame was sent. */
  readonly onResumed?: () => void;
  /** The session was deleted, and nothing follows. */
  readonly onEnd: () => void;
  /** The log could not be read. */
  readonly onError: (error: unknown) => void;
}

/** Beyond this, a client that does not read gets nothing more. It catches up from the log when it reads again. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Catching up starts below this, and not with each byte that the client reads. */
const RESUME_BYTES = MAX_BUFFERED_BYTES / 4;
const PAGE_EVENTS = 200;

/**
 * One client's stream of a session: first the missed events from the log, then live signals. Each event and each
 * character is sent once. Slow clients are not buffered. They catch up from the log when they read again.
 */
export class ResumingReader implements SignalReader {
  readonly #sessionId: SessionId;
  readonly #deps: ResumingReaderDeps;
  readonly #cursor: StreamCursor;
  #state: 'catching-up' | 'live' | 'behind' | 'closed' = 'catching-up';
  /** Seq of the last event that was heard while not live. */
  #heardSeq = 0;
  /** Signals that arrive during the query of the position; null at other times. */
  #held: SessionSignal[] | null = null;
  /** Whether the log had events that were not published yet, so that what is published comes from before them. */
  #isAhead = false;
  /** The last event that came from the log. */
  #lastRead: Envelope | null = null;

  constructor(sessionId: SessionId, position: StreamPosition, deps: ResumingReaderDeps) {
    this.#sessionId = sessionId;
    this.#deps = deps;
    const { takesKeptReasoning = false } = deps;
    this.#cursor = new StreamCursor(position, { takesKeptReasoning });
  }

  /** Call it once, after the reader has joined the session's signals. */
  start(): void {
    void this.#guard(async () => {
      const head = await this.#head();
      if (this.#state === 'closed') return;
      this.#deps.sink.send(this.#deps.encodeResumed(this.#cursor.seq, head));
      this.#deps.onResumed?.();
      await this.#catchUp();
    });
  }

  hear(signal: SessionSignal, frames: SignalFrames): void {
    if (this.#state === 'closed' || !this.#isWanted(signal)) return;
    if (this.#isAhead && this.#state === 'live' && !this.#meets(signal)) return;
    // Some events are in the log but are never published, such as those that a fork copies.
    const isMissingSome = this.#state === 'live' && this.#lacksBefore(signal);
    if (this.#state !== 'live' || isMissingSome) this.#note(signal);
    else this.#attempt(() => this.#deliver(signal, frames));
    if (isMissingSome) this.#startCatchingUp();
  }

  /** The client has read buffered bytes. The sink calls this again until its buffer is empty. */
  drained(): void {
    if (this.#state !== 'behind' || this.#deps.sink.bufferedBytes() > RESUME_BYTES) return;
    this.#startCatchingUp();
  }

  close(): void {
    this.#state = 'closed';
  }

  /** Below the client's position only if the log does not have what the client has: others may be told less so far. */
  async #head(): Promise<number> {
    const { bus, context } = this.#deps;
    const [sessionId, { seq }] = [this.#sessionId, this.#cursor];
    const { head } = await bus.send('session.position', { sessionId }, context());
    if (head >= seq) return head;
    const last = await bus.send('session.events', { sessionId, afterSeq: seq - 1, limit: 1 }, context());
    return last.length > 0 ? seq : head;
  }

  #lacksBefore(signal: SessionSignal): boolean {
    if ('event' in signal) return this.#cursor.skipsTo(signal);
    return signal.type === 'reply.chunk' && this.#cursor.lacksBefore(signal);
  }

  #isWanted(signal: SessionSignal): boolean {
    return 'event' in signal || signal.type !== 'reply.reasoning' || this.#deps.wantsReasoning;
  }

  #note(signal: SessionSignal): void {
    if ('event' in signal) this.#heardSeq = signal.seq;
    this.#held?.push(signal);
    // The events that the client lacks are being erased, so it cannot catch up.
    if (isDeletion(signal)) this.#end();
  }

  /** Whether the signal is for a client that is ahead of what is published. What it lacks by then comes from the log. */
  #meets(signal: SessionSignal): boolean {
    if (!('event' in signal)) return signal.type === 'session.fault';
    if (signal.seq < this.#cursor.seq && !isDeletion(signal)) return false;
    this.#isAhead = false;
    if (this.#isOfAnother(signal)) {
      this.#tellDeleted();
      return false;
    }
    this.#note(signal);
    this.#startCatchingUp();
    return false;
  }

  /**
   * Whether the event takes the place of one that the client has from the log: that session was deleted, and another one has
   * begun with its id. A node that heard nothing of the first session does not tell its end.
   */
  #isOfAnother(event: Envelope): boolean {
    const read = this.#lastRead;
    return read !== null && read.seq === event.seq && identityOf(read) !== identityOf(event);
  }

  #tellDeleted(): void {
    const [sessionId, seq] = [this.#sessionId, this.#cursor.seq + 1];
    this.#deliver({ sessionId, seq, time: Date.now(), event: { type: 'session.deleted' }, meta: null });
  }

  #startCatchingUp(): void {
    if (this.#state === 'closed') return;
    this.#state = 'catching-up';
    void this.#guard(() => this.#catchUp());
  }

  async #catchUp(): Promise<void> {
    const { bus, context } = this.#deps;
    const sessionId = this.#sessionId;
    while (this.#state === 'catching-up') {
      const wanted = { sessionId, afterSeq: this.#cursor.seq, limit: PAGE_EVENTS };
      const page = await bus.send('session.events', wanted, context());
      for (const envelope of page) this.#deliver(envelope);
      this.#lastRead = page.at(-1) ?? this.#lastRead;
      if (page.length > 0 || this.#heardSeq > this.#cursor.seq) continue;
      // This is the head of the log. Signals that arrive during the next query must not be lost.
      this.#held = [];
      const { head, running, reasoning } = await bus.send('session.position', { sessionId }, context());
      const held = this.#held;
      this.#held = null;
      if (this.#state !== 'catching-up') return;
      // After an event, the running text may belong to the step before or after it.
      if (head > this.#cursor.seq || held.some((signal) => 'event' in signal)) continue;
      this.#state = 'live';
      this.#isAhead = head < this.#cursor.seq;
      if (this.#isAhead) return;
      if (reasoning && this.#isWanted(reasoning)) this.#deliver(reasoning);
      for (const signal of running ? [running, ...held] : held) this.#deliver(signal);
    }
  }

  #deliver(signal: SessionSignal, frames?: SignalFrames): void {
    if (this.#state === 'closed' || this.#state === 'behind') return;
    const { sink, encode, context } = this.#deps;
    const before = this.#cursor.seq;
    for (const due of this.#cursor.take(signal)) {
      const { seq, offset } = this.#positionAfter(due, before);
      const told = 'event' in due ? withOwnKey(due, context()) : due;
      const shared = told === signal ? frames?.encoded(encode, seq, offset) : undefined;
      const taken = sink.send(shared ?? encode(told, seq, offset));
      if (!taken && sink.bufferedBytes() > MAX_BUFFERED_BYTES) this.#state = 'behind';
    }
    if (isDeletion(signal)) this.#end();
  }

  /**
   * The client's position after `due`. The cursor is already past the whole signal, which may be the rest of a
   * text and then an event.
   */
  #positionAfter(due: SessionSignal, before: number): StreamPosition {
    const { seq, offset } = this.#cursor;
    if ('event' in due) return { seq, offset };
    return { seq: before, offset: due.type === 'reply.chunk' ? due.offset + due.content.length : offset };
  }

  /** If the id is used again, it names another session, whose events begin at 1. */
  #end(): void {
    this.#state = 'closed';
    this.#deps.onEnd();
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
    this.#deps.onError(error);
  }
}

/** Events of version 0.1.0 have no metadata. */
function identityOf({ meta, time }: Envelope): string | number {
  return meta?.id ?? time;
}

function isDeletion(signal: SessionSignal): boolean {
  return 'event' in signal && signal.event.type === 'session.deleted';
}
