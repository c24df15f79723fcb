import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { StreamCursor } from '../../core/session/stream-cursor.ts';
import { type NodeId, SessionElsewhereError, type StreamPlace } from '../../ports/membership.ts';
import type { WatchedPosition } from './node-questions.ts';

/** Signals that are kept while a feed catches up. Beyond it, it begins again. */
const MOST_HELD = 10_000;
const PAGE_EVENTS = 200;

/** What the clients had of a session when its place was asked for. */
export interface FeedMark {
  /** How many sessions with this id they have heard the end of. */
  readonly ended: number;
  readonly seq: number;
}

interface Heard {
  /** Number of the message. */
  readonly n: number;
  readonly signal: SessionSignal;
}

export interface FeedDeps {
  /** Asks the node for its signals from now on, and for the position of the session. */
  readonly watch: (node: NodeId, stream: StreamId) => Promise<WatchedPosition>;
  /** Events after a seq, from the log: at most `limit`, and fewer where they are large. None: there are no more. */
  readonly read: (stream: StreamId, afterSeq: number, limit: number) => Promise<readonly SessionSignal[]>;
  /** As the log has it. Head 0: it does not. */
  readonly place: (stream: StreamId) => Promise<StreamPlace>;
  /** The id of the session with this stream. */
  readonly sessionOf: (stream: StreamId) => SessionId;
  /** Tells the clients of this node. */
  readonly tell: (stream: StreamId, signal: SessionSignal) => void;
  /** The session is not where it was looked for. */
  readonly onLost: (stream: StreamId, owner: NodeId | null) => void;
  readonly onError: (stream: StreamId, error: unknown) => void;
}

/**
 * The signals of one session for the clients of this node, while another node owns it, or nobody does. Whatever is lost
 * between the nodes, and whoever owns the session next: each event and each character is told once, in order.
 */
export class RemoteFeed {
  readonly #stream: StreamId;
  readonly #deps: FeedDeps;
  /** What the clients of this node have. Null until that is known. */
  #cursor: StreamCursor | null = null;
  /** When that session began. Null until a place has said so. */
  #began: number | null = null;
  #ended = 0;
  #source: NodeId | null = null;
  /** Seq of the last event from there. */
  #sourceSeq = 0;
  /** Messages up to this number are ignored: they were sent before the position at which the feed began. */
  #since = 0;
  /** Signals that arrive while the feed catches up; null while it is live, or has no source. */
  #held: Heard[] | null = null;
  /** Whether this node owns the session, so that its signals need no feed. */
  #isOwn = false;
  /** Seq of the last event that this node told as the owner. */
  #ownSeq = 0;
  /** Whether the clients have events, and this node presumes that their session is gone. */
  #presumesEnd = false;
  /** Whether this node certainly owns the session, and its clients lack nothing. */
  #isCertain = false;
  /** Whether this node owns the session, and the log has it, so that no other one can begin it. */
  #isRecorded = false;
  /** What `own` has begun and not finished. */
  #owning: Promise<void> | null = null;
  #isClosed = false;
  #isOverdue = false;
  /** Seq of the last event that the log had at the last look. */
  #lookedHead = 0;
  /** Whether the log did not have the session at the last look, although its clients have events of it. */
  #wasMissing = false;
  /** Counts what the feed began to do. What was begun before that is given up. */
  #attempt = 0;
  #working: Promise<void> = Promise.resolve();

  constructor(stream: StreamId, deps: FeedDeps) {
    this.#stream = stream;
    this.#deps = deps;
  }

  /** The node that sends the signals, or is asked to. */
  get source(): NodeId | null {
    return this.#source;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether it is known what the clients have. */
  get hasBegun(): boolean {
    return this.#cursor !== null;
  }

  /** Whether `own` has failed, and is to be called again. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** Whether another node may own the session: it may have begun one that this node presumed to be new. */
  get mayBeElsewhere(): boolean {
    return !this.#isRecorded;
  }

  /** Seq of the last event that the clients have. */
  get seq(): number {
    return this.#cursor?.seq ?? 0;
  }

  /** The clients may be told what follows this seq, also if they have it from the log. Infinity: they are told what is new. */
  get toldUpTo(): number {
    return this.#isOwn && this.#isCertain ? Infinity : this.seq;
  }

  get mark(): FeedMark {
    return { ended: this.#ended, seq: this.seq };
  }

  /** Resolves when what was begun is done, or has failed. */
  get ready(): Promise<void> {
    return this.#working;
  }

  /** The clients have all events up to this one, and what follows comes from here. */
  begin(head: number): void {
    this.#cursor ??= new StreamCursor({ seq: head, offset: 0 });
  }

  /**
   * This node has become the owner: what the clients lack comes from the log. Resolves before the first own signal. Rejects
   * if the log cannot be read: then nothing may be told of the session, and `own` is to be called again.
   */
  async own(): Promise<void> {
    if (this.#isOwn && this.#isCertain && !this.#isOverdue) return;
    this.#owning ??= this.#becomeOwn();
    await this.#owning;
  }

  /** Resolves when no `own` is under way, or has to be repeated. Rejects as `own` does. */
  async owned(): Promise<void> {
    await (this.#isOverdue ? this.own() : this.#owning);
  }

  async #becomeOwn(): Promise<void> {
    this.#stop();
    this.#isOwn = true;
    const attempt = this.#attempt;
    try {
      if (this.seq > 0) await this.#lookForAnother();
      await this.#catchUp(attempt);
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#owning = null;
      this.#isOverdue = true;
      throw error;
    }
    if (attempt !== this.#attempt) return;
    this.#owning = null;
    this.#isCertain = true;
    this.#isRecorded ||= this.seq > 0;
  }

  /**
   * This node is the owner, and there is nothing to catch up with.
   * @param isCertain false: if the session is new.
   */
  presumeOwn(isCertain = false): void {
    this.#stop();
    this.#isOwn = true;
    this.#isCertain = isCertain;
    this.#isRecorded = isCertain;
    this.#presumesEnd = !isCertain && this.seq > 0;
  }

  /** This node, which owns the session, tells the clients this event now. */
  noteOwn({ seq, event }: Envelope): void {
    if (!this.#isOwn) return;
    // Who owned the session before has deleted it, and this node has not heard of that.
    if (seq === 1 && this.#presumesEnd) this.#tellDeleted();
    this.#presumesEnd = false;
    this.#isCertain = true;
    this.#isRecorded = event.type !== 'session.deleted';
    this.#ownSeq = this.#isRecorded ? seq : 0;
    if (!this.#isRecorded) this.#beginAnew();
  }

  /** This node has given the session up, after the event with this seq. */
  disown(seq: number): void {
    this.#stop();
    this.#cursor = new StreamCursor({ seq, offset: 0 });
    this.#began = null;
  }

  /** Learns when the session of the clients began, so that another one is noticed. */
  async learn(): Promise<void> {
    if (this.seq === 0 || this.#began !== null) return;
    const attempt = this.#attempt;
    await this.#guard(attempt, () => this.#lookForAnother());
  }

  /** The node is gone, or does not own the session any more. */
  loseSource(): void {
    this.#stop();
  }

  /**
   * Gets the signals from this node from now on.
   * @param isNew whether it has just become the owner. If it knew before its first signal that this node wants them, nothing
   * was missed.
   */
  attach(node: NodeId, isNew = false): Promise<void> {
    if (this.#isClosed) return this.#working;
    this.#stop();
    this.#source = node;
    this.#held = [];
    const attempt = this.#attempt;
    this.#working = this.#guard(attempt, () => this.#attach(attempt, node, isNew));
    return this.#working;
  }

  /**
   * Tells the clients that their session was deleted, if the log has another one now.
   * @param mark what they had before the place was asked for.
   * @returns whether they were told so.
   */
  compare({ head, began }: StreamPlace, { ended, seq }: FeedMark): boolean {
    if (ended !== this.#ended || this.#cursor === null) return false;
    const isAnother = head < seq || (this.#began !== null && began !== this.#began);
    const isTold = isAnother && this.seq > 0;
    if (isTold) this.#tellDeleted();
    this.#began = isTold || head === 0 || seq === 0 ? null : began;
    return isTold;
  }

  /**
   * Tells what the log has more, for a session whose owner cannot be reached. What an owner that is attached has just
   * recorded is on its way: only what was there at the last look, too, is taken from the log.
   * @param mark see `compare`.
   */
  poll(place: StreamPlace, mark: FeedMark): void {
    if (this.#isOwn || this.#cursor === null || this.#held) return;
    if (place.head > 0 && this.compare(place, mark)) {
      if (this.#source !== null) void this.attach(this.#source);
      return;
    }
    if (mark.ended !== this.#ended) return;
    if (place.head === 0 && this.#cursor.seq > 0) {
      if (mark.seq === 0) return;
      // What its owner has told of the deletion is on its way, or was lost: the log has nothing of it.
      if (this.#wasMissing) this.#tellDeleted();
      this.#wasMissing = !this.#wasMissing;
      return;
    }
    this.#wasMissing = false;
    const isOverdue = this.#source === null || this.#lookedHead > this.#cursor.seq;
    this.#lookedHead = place.head;
    if (place.head <= this.#cursor.seq || !isOverdue) return;
    const attempt = this.#attempt;
    this.#working = this.#guard(attempt, () => this.#catchUp(attempt));
  }

  /** @param from the node that sends the signals. @param n number of its message. */
  hear(from: NodeId, n: number, signals: readonly SessionSignal[]): void {
    if (this.#source === null && this.#cursor && !this.#isOwn) {
      // The session was nobody's, and the node that has it now was told who wants its signals. What comes may be late, or of
      // another session with the same id, unless the clients have nothing yet.
      if (this.seq > 0 || !this.#follows(signals)) void this.attach(from);
      this.#source = from;
      this.#sourceSeq = this.#cursor.seq;
    }
    if (from !== this.#source || n <= this.#since) return;
    if (this.#held === null) {
      this.#takeLive(from, n, signals);
      return;
    }
    for (const signal of signals) this.#held.push({ n, signal });
    if (this.#held.length > MOST_HELD) void this.attach(from);
  }

  /** No client is left. */
  close(): void {
    this.#stop();
    this.#isClosed = true;
  }

  #stop(): void {
    this.#passOwn();
    this.#ownSeq = 0;
    this.#attempt += 1;
    this.#owning = null;
    this.#source = null;
    this.#since = 0;
    this.#lookedHead = 0;
    this.#wasMissing = false;
    this.#held = null;
    this.#isOwn = false;
    this.#isCertain = false;
    this.#isRecorded = false;
    this.#presumesEnd = false;
    this.#isOverdue = false;
  }

  /** What this node has told as the owner, the clients have. */
  #passOwn(): void {
    if (this.#ownSeq > this.seq) this.#cursor = new StreamCursor({ seq: this.#ownSeq, offset: 0 });
  }

  async #attach(attempt: number, node: NodeId, isNew: boolean): Promise<void> {
    const { head, running, reasoning, wasWatched, n } = await this.#deps.watch(node, this.#stream);
    if (attempt !== this.#attempt) return;
    if (this.#cursor === null) {
      // The clients hear what follows. What was streamed before is not theirs.
      this.#cursor = new StreamCursor({ seq: head, offset: 0 });
      if (reasoning) this.#cursor.take(reasoning);
      if (running) this.#cursor.take(running);
      this.#since = n;
    } else if (!isNew || !wasWatched || !this.#isNext(head, this.#heldSignals)) {
      // Its owner may lag behind the log.
      const { ended } = this.mark;
      if (this.seq > 0) await this.#lookForAnother();
      if (attempt !== this.#attempt) return;
      // The position, and what was heard since, may be of the one before.
      if (ended !== this.#ended) return this.#attach(attempt, node, false);
      // No further than the text is from: later events come as signals.
      await this.#catchUp(attempt, head);
      if (attempt !== this.#attempt) return;
      const isOfHead = this.#cursor.seq === head;
      if (reasoning && isOfHead) this.#take(reasoning);
      if (running && isOfHead) this.#take(running);
      this.#since = n;
    }
    this.#sourceSeq = Math.min(head, this.#cursor.seq);
    const held = (this.#held ?? []).filter((heard) => heard.n > this.#since);
    this.#held = null;
    const signals = held.map(({ signal }) => signal);
    this.#takeLive(node, held.at(-1)?.n ?? n, signals);
  }

  get #heldSignals(): SessionSignal[] {
    return (this.#held ?? []).map(({ signal }) => signal);
  }

  /** Whether the clients have all up to the head, or what they lack comes with these signals. */
  #isNext(head: number, signals: readonly SessionSignal[]): boolean {
    return head === this.seq || (head > this.seq && this.#follows(signals));
  }

  /** A session that was deleted and begun again is another one. */
  async #lookForAnother(): Promise<void> {
    const { mark } = this;
    this.compare(await this.#deps.place(this.#stream), mark);
  }

  /** Tells the events that the log has and the clients lack. @param head seq of the last one. Left out: all. */
  async #catchUp(attempt: number, head = Infinity): Promise<void> {
    while (attempt === this.#attempt && this.#cursor !== null && this.#cursor.seq < head) {
      const limit = Math.min(PAGE_EVENTS, head - this.#cursor.seq);
      const page = await this.#deps.read(this.#stream, this.#cursor.seq, limit);
      if (attempt !== this.#attempt) return;
      const { ended } = this.mark;
      this.#passOwn();
      for (const event of page) this.#take(event);
      if (page.length === 0 || ended !== this.#ended) return;
    }
  }

  /** Whatever is missing before a signal is asked for again. */
  #takeLive(from: NodeId, n: number, signals: readonly SessionSignal[]): void {
    this.#noteSource(signals);
    const fresh = this.#withoutOld(signals);
    for (const [index, signal] of fresh.entries()) {
      if (this.#isOld(signal)) continue;
      if (!this.#isComplete(signal)) {
        void this.attach(from);
        for (const missing of fresh.slice(index)) this.#held?.push({ n, signal: missing });
        return;
      }
      this.#take(signal);
      if ('event' in signal) this.#sourceSeq = signal.seq;
    }
  }

  /** Events that the clients have from the log already: what was streamed after them is not old. */
  #noteSource(signals: readonly SessionSignal[]): void {
    for (const signal of signals)
      if ('event' in signal && signal.seq <= this.seq)
        this.#sourceSeq = Math.max(this.#sourceSeq, signal.seq);
  }

  /** Without what comes before the last of the events that the clients have. */
  #withoutOld(signals: readonly SessionSignal[]): readonly SessionSignal[] {
    const seq = this.#cursor?.seq ?? 0;
    const next = signals.findIndex((signal) => 'event' in signal && signal.seq > seq);
    const known = signals.slice(0, next === -1 ? signals.length : next);
    return signals.slice(known.findLastIndex((signal) => 'event' in signal) + 1);
  }

  /** Whether it was streamed before an event that the clients have from the log. */
  #isOld(signal: SessionSignal): boolean {
    if ('event' in signal || signal.type === 'session.fault' || this.#cursor === null) return false;
    return this.#sourceSeq < this.#cursor.seq;
  }

  /** Whether they begin with the event after those that the clients have. */
  #follows([first]: readonly SessionSignal[]): boolean {
    return first !== undefined && 'event' in first && first.seq === this.seq + 1;
  }

  /** Whether the clients have all that comes before the signal. */
  #isComplete(signal: SessionSignal): boolean {
    if (this.#cursor === null || this.#cursor.skipsTo(signal)) return false;
    return 'event' in signal || signal.type !== 'reply.chunk' || !this.#cursor.lacksBefore(signal);
  }

  #take(signal: SessionSignal): void {
    for (const due of this.#cursor?.take(signal) ?? []) this.#deps.tell(this.#stream, due);
    if ('event' in signal && signal.event.type === 'session.deleted') this.#beginAnew();
  }

  /** If the id is used again, it names another session, whose events begin at 1. */
  #beginAnew(): void {
    this.#cursor = new StreamCursor({ seq: 0, offset: 0 });
    this.#began = null;
    this.#wasMissing = false;
    this.#ended += 1;
  }

  #tellDeleted(): void {
    const [sessionId, seq] = [this.#deps.sessionOf(this.#stream), this.seq + 1];
    this.#take({ sessionId, seq, time: Date.now(), event: { type: 'session.deleted' }, meta: null });
  }

  async #guard(attempt: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#stop();
      if (error instanceof SessionElsewhereError) this.#deps.onLost(this.#stream, error.owner);
      else this.#deps.onError(this.#stream, error);
    }
  }
}
