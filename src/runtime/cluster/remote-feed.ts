import type { SessionId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { type NodeId, SessionElsewhereError, type StreamPlace } from '../../ports/membership.ts';
import type { WatchedPosition } from './node-questions.ts';
import { type FeedMark, isDeletion, ToldSession } from './told-session.ts';

/** Maximum of signals held while a feed catches up. With more, the feed attaches again. */
const MAX_HELD = 10_000;
const PAGE_EVENTS = 200;

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
  /** The place of the session in the log. Head 0: the log does not have the session. */
  readonly place: (stream: StreamId) => Promise<StreamPlace>;
  /** The id of the session with this stream. */
  readonly sessionOf: (stream: StreamId) => SessionId;
  /** Tells the clients of this node. */
  readonly tell: (stream: StreamId, signal: SessionSignal) => void;
  /** The node that was asked does not own the session. Null: nobody knows the owner. */
  readonly onLost: (stream: StreamId, owner: NodeId | null) => void;
  readonly onError: (stream: StreamId, error: unknown) => void;
}

/**
 * The signals of one session for the clients of this node, while another node or no node owns the session. Each event and
 * each character is told once, in order, whatever is lost between the nodes and whoever owns the session next.
 */
export class RemoteFeed {
  readonly #stream: StreamId;
  readonly #deps: FeedDeps;
  readonly #told: ToldSession;
  #source: NodeId | null = null;
  /** Seq of the last event from the source. */
  #sourceSeq = 0;
  /** Messages up to this number are ignored: the position at which the feed began includes them. */
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
  /** Whether this node owns the session and the log has the session, so that no other node can begin it. */
  #isRecorded = false;
  /** The `own` that is under way. */
  #owning: Promise<void> | null = null;
  #isClosed = false;
  #isOverdue = false;
  /** Seq of the last event that the log had at the last look. */
  #lookedHead = 0;
  /** Whether the log did not have the session at the last look, although its clients have events of it. */
  #wasMissing = false;
  /** Incremented when the owner or the source changes. Work that was begun before stops at its next step. */
  #attempt = 0;
  #working: Promise<void> = Promise.resolve();

  constructor(stream: StreamId, deps: FeedDeps) {
    this.#stream = stream;
    this.#deps = deps;
    this.#told = new ToldSession({
      sessionId: () => deps.sessionOf(stream),
      tell: (signal) => deps.tell(stream, signal),
      onEnd: () => this.#forgetEnded(),
    });
  }

  /** The node that sends the signals, or is asked to. */
  get source(): NodeId | null {
    return this.#source;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the feed knows what the clients have. */
  get hasBegun(): boolean {
    return this.#told.isKnown;
  }

  /** Whether `own` has failed and has to be called again. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** Whether another node may own the session: it may have begun the session that this node presumes to be new. */
  get mayBeElsewhere(): boolean {
    return !this.#isRecorded;
  }

  /** Events after this seq will be told, also those that the log has already. Infinity: only new events will be told. */
  get toldUpTo(): number {
    return this.#isOwn && this.#isCertain ? Infinity : this.#told.seq;
  }

  get mark(): FeedMark {
    return this.#told.mark;
  }

  /** Resolves when the last attempt to attach or to catch up is over, also if it has failed. */
  get ready(): Promise<void> {
    return this.#working;
  }

  /**
   * The clients have all events up to this seq. The feed tells what follows.
   * @param began when the session began, if that is known.
   */
  begin(head: number, began: number | null = null): void {
    if (this.#told.isKnown) return;
    this.#told.moveTo(head);
    this.#told.noteBegan(head > 0 ? began : null);
  }

  /**
   * This node has become the owner: tells the clients what they lack, from the log. Resolves before the first own signal.
   * Rejects if the log cannot be read: then nothing may be told of the session, and `own` has to be called again.
   */
  async own(): Promise<void> {
    if (this.#isOwn && this.#isCertain && !this.#isOverdue) return;
    this.#owning ??= this.#becomeOwn();
    await this.#owning;
  }

  /** Waits for an `own` that is under way, or repeats one that has failed. Rejects as `own` does. */
  async owned(): Promise<void> {
    await (this.#isOverdue ? this.own() : this.#owning);
  }

  async #becomeOwn(): Promise<void> {
    this.#stop();
    this.#isOwn = true;
    const attempt = this.#attempt;
    try {
      if (this.#told.seq > 0) await this.#lookForAnother();
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
    this.#isRecorded ||= this.#told.seq > 0;
  }

  /**
   * This node owns the session, and its clients lack nothing.
   * @param isCertain false: only if the session is new.
   */
  presumeOwn(isCertain = false): void {
    this.#stop();
    this.#isOwn = true;
    this.#isCertain = isCertain;
    this.#isRecorded = isCertain;
    this.#presumesEnd = !isCertain && this.#told.seq > 0;
  }

  /** This node, as the owner, tells the clients this event now. */
  noteOwn({ seq, time, event }: Envelope): void {
    if (!this.#isOwn) return;
    // The former owner has deleted the session, and this node has missed that event.
    if (seq === 1 && this.#presumesEnd) this.#told.tellDeleted();
    if (seq === 1) this.#told.noteBegan(time);
    this.#presumesEnd = false;
    this.#isCertain = true;
    this.#isRecorded = event.type !== 'session.deleted';
    this.#ownSeq = this.#isRecorded ? seq : 0;
    if (!this.#isRecorded) this.#told.beginAnew();
  }

  /** This node has given the session up, after the event with this seq. */
  disown(seq: number): void {
    this.#stop();
    this.#told.moveTo(seq);
  }

  /** Looks up when the session of the clients began. A later session with the same id is recognized by that. */
  async learn(): Promise<void> {
    if (this.#told.seq === 0 || this.#told.began !== null) return;
    const attempt = this.#attempt;
    await this.#guard(attempt, () => this.#lookForAnother());
  }

  /** The node is gone, or does not own the session any more. */
  loseSource(): void {
    this.#stop();
  }

  /**
   * Gets the signals from this node from now on.
   * @param isNew whether the node has just become the owner. If it knew before its first signal that this node wants the
   * signals, this node has missed nothing.
   */
  attach(node: NodeId, isNew = false): Promise<void> {
    if (this.#isClosed) return this.#working;
    // Where the feed has events of the session, the source is asked when that session began.
    if (node !== this.#source || this.#told.seq === 0) this.#tellHeldEnd();
    this.#stop();
    this.#source = node;
    this.#held = [];
    const attempt = this.#attempt;
    this.#working = this.#guard(attempt, () => this.#attach(attempt, node, isNew));
    return this.#working;
  }

  /**
   * Tells from the log what the clients lack, if no owner sends it. Events that an attached owner has just recorded are on
   * their way, so the log is read only if it was ahead of the clients at the last look, too.
   * @param mark what the clients had before the place was looked up.
   */
  poll(place: StreamPlace, mark: FeedMark): void {
    const told = this.#told;
    if (this.#isOwn || !told.isKnown || this.#held) return;
    if (place.head > 0 && told.compare(place, mark)) {
      if (this.#source !== null) void this.attach(this.#source);
      return;
    }
    if (mark.ended !== told.ended) return;
    if (place.head === 0 && told.seq > 0) {
      if (mark.seq > 0) this.#noteMissing();
      return;
    }
    this.#wasMissing = false;
    const isOverdue = this.#source === null || this.#lookedHead > told.seq;
    this.#lookedHead = place.head;
    if (place.head <= told.seq || !isOverdue) return;
    const attempt = this.#attempt;
    this.#working = this.#guard(attempt, () => this.#catchUpTo(attempt, place));
  }

  /** The event of the deletion is on its way or was lost. It is not in the log, so the second look tells it. */
  #noteMissing(): void {
    if (this.#wasMissing) this.#told.tellDeleted();
    else this.#wasMissing = true;
  }

  /** @param from the node that sends the signals. @param n number of its message. */
  hear(from: NodeId, n: number, signals: readonly SessionSignal[]): void {
    if (this.#source === null && this.#told.isKnown && !this.#isOwn) {
      // No node owned the session, and its new owner knows that this node wants the signals. These may be late, or of another
      // session with the same id, unless the clients have nothing yet.
      if (this.#told.seq > 0 || !this.#told.isFollowedBy(signals)) void this.attach(from);
      this.#source = from;
      this.#sourceSeq = this.#told.seq;
    }
    if (from !== this.#source || n <= this.#since) return;
    if (this.#held === null) {
      this.#takeLive(from, n, signals);
      return;
    }
    for (const signal of signals) this.#held.push({ n, signal });
    if (this.#held.length > MAX_HELD) void this.attach(from);
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

  /** The clients have what this node has told as the owner. */
  #passOwn(): void {
    if (this.#ownSeq > this.#told.seq) this.#told.moveTo(this.#ownSeq);
  }

  async #attach(attempt: number, node: NodeId, isNew: boolean): Promise<void> {
    const told = this.#told;
    const watched = await this.#deps.watch(node, this.#stream);
    const { head, running, reasoning, wasWatched, n, began } = watched;
    if (attempt !== this.#attempt) return;
    // A client may have come with events of a session that has ended since, although the feed has none of it.
    if (told.seq === 0) this.#tellHeldEnd(n);
    const isSame = told.seq === 0 || (began !== undefined && began === told.began);
    if (!told.isKnown) {
      told.beginAt(watched);
      this.#since = n;
    } else if (!isNew || !wasWatched || !isSame || !told.reaches(head, this.#heldSignals)) {
      const { ended, seq } = told.mark;
      if (!isSame) await this.#recognize(began);
      // The running text belongs to the head, so stop there. Later events come as signals.
      if (ended === told.ended) await this.#catchUp(attempt, head);
      // The session was deleted after the owner had told its position.
      if (ended === told.ended && told.seq < head) await this.#lookForAnother();
      if (attempt !== this.#attempt) return;
      // The position, and the signals held since, may be of the session that has ended.
      if (ended !== told.ended) return this.#attach(attempt, node, false);
      if (seq === 0 && told.seq > 0) told.noteBegan(began ?? null);
      const isOfHead = told.seq === head;
      if (reasoning && isOfHead) told.take(reasoning);
      if (running && isOfHead) told.take(running);
      this.#since = n;
    }
    this.#sourceSeq = Math.min(head, told.seq);
    const held = (this.#held ?? []).filter((heard) => heard.n > this.#since);
    this.#held = null;
    const signals = held.map(({ signal }) => signal);
    this.#takeLive(node, held.at(-1)?.n ?? n, signals);
  }

  get #heldSignals(): SessionSignal[] {
    return (this.#held ?? []).map(({ signal }) => signal);
  }

  /**
   * Tells the clients if the session is another one than theirs. The position of its owner may lag behind the log, so if it
   * is not known when the session of the clients began, only the log can show that.
   * @param began when the session of the owner began, if the owner has said so.
   */
  async #recognize(began: number | undefined): Promise<void> {
    if (began === undefined || this.#told.began === null) await this.#lookForAnother();
    else this.#told.compare({ head: this.#told.seq, began }, this.#told.mark);
  }

  /** Looks whether the session was deleted and another one has begun with its id. */
  async #lookForAnother(): Promise<void> {
    const { mark } = this.#told;
    this.#told.compare(await this.#deps.place(this.#stream), mark);
  }

  /** Tells what the clients lack of the session that was looked up. */
  async #catchUpTo(attempt: number, { began }: StreamPlace): Promise<void> {
    const told = this.#told;
    const { ended, seq } = told.mark;
    await this.#catchUp(attempt);
    if (seq === 0 && told.seq > 0 && ended === told.ended && attempt === this.#attempt) told.noteBegan(began);
  }

  /** Tells the events that the log has and the clients lack. @param head seq of the last event to tell. Left out: all. */
  async #catchUp(attempt: number, head = Infinity): Promise<void> {
    const told = this.#told;
    while (attempt === this.#attempt && told.isKnown && told.seq < head) {
      const limit = Math.min(PAGE_EVENTS, head - told.seq);
      const page = await this.#deps.read(this.#stream, told.seq, limit);
      if (attempt !== this.#attempt) return;
      const { ended } = told;
      this.#passOwn();
      for (const event of page) told.take(event);
      if (page.length === 0 || ended !== told.ended) return;
    }
  }

  /** Tells the signals. If something is missing before one of them, attaches again. */
  #takeLive(from: NodeId, n: number, signals: readonly SessionSignal[]): void {
    this.#noteSource(signals);
    const fresh = this.#withoutOld(signals);
    for (const [index, signal] of fresh.entries()) {
      if (this.#isOld(signal)) continue;
      if (!this.#told.isCompleteBefore(signal)) {
        void this.attach(from);
        for (const missing of fresh.slice(index)) this.#held?.push({ n, signal: missing });
        return;
      }
      this.#told.take(signal);
      if (!('event' in signal)) continue;
      this.#sourceSeq = signal.seq;
      // The log says the same. A fork begins with older events, but those are never sent.
      if (signal.seq === 1) this.#told.noteBegan(signal.time);
    }
  }

  /** Notes events that the clients already have from the log. Text that was streamed after them is not old. */
  #noteSource(signals: readonly SessionSignal[]): void {
    for (const signal of signals)
      if ('event' in signal && signal.seq <= this.#told.seq)
        this.#sourceSeq = Math.max(this.#sourceSeq, signal.seq);
  }

  /** Drops all signals up to the last event that the clients have. */
  #withoutOld(signals: readonly SessionSignal[]): readonly SessionSignal[] {
    const { seq } = this.#told;
    const next = signals.findIndex((signal) => 'event' in signal && signal.seq > seq);
    const known = signals.slice(0, next === -1 ? signals.length : next);
    return signals.slice(known.findLastIndex((signal) => 'event' in signal) + 1);
  }

  /** Whether the signal was streamed before an event that the clients have from the log. */
  #isOld(signal: SessionSignal): boolean {
    if ('event' in signal || signal.type === 'session.fault') return false;
    return this.#sourceSeq < this.#told.seq;
  }

  /**
   * The source has deleted the session while the feed caught up. Nobody else would say so.
   * @param upTo number of the last message that counts.
   */
  #tellHeldEnd(upTo = Infinity): void {
    if (!this.#held?.some(({ n, signal }) => n <= upTo && isDeletion(signal))) return;
    if (!this.#told.isKnown) this.#told.moveTo(0);
    this.#told.tellDeleted();
  }

  /** What is held of a session that has ended, and that the log lacked it, says nothing more. */
  #forgetEnded(): void {
    this.#wasMissing = false;
    const end = this.#held?.findIndex(({ signal }) => isDeletion(signal)) ?? -1;
    this.#held?.splice(0, end + 1);
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
