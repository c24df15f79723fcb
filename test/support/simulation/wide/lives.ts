import type { SessionId } from '../../../../src/core/ids.ts';
import type { Envelope } from '../../../../src/core/log/envelope.ts';
import { currentEvents } from '../../../../src/core/log/event-codec.ts';
import { encodeResumable, resumableFrame } from '../../../../src/gateway/stream/resumable-frames.ts';
import type { ResumableFrame } from '../../../../src/wire/frames.ts';
import type { StoredStream } from '../simulated-database.ts';
import { EPOCH } from '../simulated-time.ts';

/** One session from its first event to its erasure. Another one may have its id later. */
export class Life {
  readonly stream: StoredStream;
  readonly #events: Envelope[] = [];
  readonly #frames: string[] = [];

  constructor(stream: StoredStream) {
    this.stream = stream;
  }

  get id(): SessionId {
    return this.stream.id;
  }

  get events(): readonly Envelope[] {
    const { rows, id } = this.stream;
    for (const { time, data } of rows.slice(this.#events.length)) {
      const seq = this.#events.length + 1;
      // The time in the log is in whole milliseconds.
      const envelope = { sessionId: id, seq, time: Math.floor(time), ...currentEvents.decode(data) };
      this.#events.push(envelope as Envelope);
    }
    return this.#events;
  }

  /** As a client is told the event with this seq. */
  frame(seq: number): string | undefined {
    const event = this.events[seq - 1];
    if (event) this.#frames[seq - 1] ??= encodeResumable(event);
    return this.#frames[seq - 1];
  }

  get log(): ResumableFrame[] {
    return this.events.map((event) => resumableFrame(event));
  }

  get createdAt(): number {
    return this.stream.createdAt - EPOCH;
  }

  get erasedAt(): number {
    return this.stream.erasedAt - EPOCH;
  }

  /** When the event with this seq was recorded. Infinity: the session has no such event. */
  timeOf(seq: number): number {
    return (this.stream.rows[seq - 1]?.time ?? Infinity) - EPOCH;
  }

  /** Before this moment, nothing says that it ends. */
  get markedAt(): number {
    const { rows } = this.stream;
    return rows.at(-1)?.data.includes('"session.deleted"') ? this.timeOf(rows.length) : this.erasedAt;
  }

  /** Seq of the last event that a fork has from elsewhere. 0: it is no fork. */
  get sharedSeq(): number {
    // A fork of a fork has two such events.
    const fork = this.events.findLast(({ event }) => event.type === 'session.forked');
    return fork?.event.type === 'session.forked' ? fork.event.at : 0;
  }
}

/** All sessions that the database has, or had. It knows more than any node. */
export class Lives {
  readonly #streams: readonly StoredStream[];
  readonly #lives: Life[] = [];

  constructor(streams: readonly StoredStream[]) {
    this.#streams = streams;
  }

  get all(): readonly Life[] {
    for (const stream of this.#streams.slice(this.#lives.length)) this.#lives.push(new Life(stream));
    return this.#lives;
  }

  of(id: SessionId): Life[] {
    return this.all.filter((life) => life.id === id);
  }

  /** The session that has this id now. */
  now(id: SessionId): Life | undefined {
    const last = this.of(id).at(-1);
    return last?.erasedAt === Infinity ? last : undefined;
  }

  /** The session that had this id all the time, and was not about to be deleted. */
  throughout(id: SessionId, from: number, until: number): Life | undefined {
    return this.of(id).find(({ createdAt, markedAt }) => createdAt <= from && markedAt > until);
  }

  /** Whether there was none with this id all the time. */
  noneThroughout(id: SessionId, from: number, until: number): boolean {
    return this.of(id).every(({ createdAt, erasedAt }) => erasedAt < from || createdAt > until);
  }
}
