import { EventQueue } from './event-queue.ts';
import type { StreamEvent, StreamPosition } from './stream-position.ts';

interface Unread {
  readonly event: StreamEvent;
  /** The reader's position once it has read the event. */
  readonly position: StreamPosition;
}

/**
 * The events that the stream has received and the iterator has not read. Once the queue is full, further events are
 * dropped: the stream must deliver them again from `resumeFrom`.
 */
export class UnreadEvents {
  readonly #queue: EventQueue<Unread>;
  #readPosition: StreamPosition;
  #resumeFrom: StreamPosition | null = null;

  constructor(limit: number, position: StreamPosition) {
    this.#queue = new EventQueue(limit);
    this.#readPosition = position;
  }

  get readPosition(): StreamPosition {
    return this.#readPosition;
  }

  /** Whether events are dropped, because the queue was full. */
  get isOverflowing(): boolean {
    return this.#resumeFrom !== null;
  }

  /** The position of the first dropped event, once the queue has been read empty; null when no event is missing. */
  get resumeFrom(): StreamPosition | null {
    return this.#queue.isEmpty ? this.#resumeFrom : null;
  }

  /** The stream continues at `resumeFrom`. */
  resumed(): void {
    this.#resumeFrom = null;
  }

  /** @param before The position of a reader that has read everything before the event. */
  add(event: StreamEvent, position: StreamPosition, before: StreamPosition): void {
    if (this.#resumeFrom) return;
    if (!this.#queue.push({ event, position })) this.#resumeFrom = before;
  }

  /** Waits for the next event. Rejects after `fail`, and ends after `close`. */
  async next(): Promise<IteratorResult<StreamEvent, undefined>> {
    const item = await this.#queue.next();
    if (item.done) return item;
    this.#readPosition = item.value.position;
    return { done: false, value: item.value.event };
  }

  /** Nobody waits for the next event any longer: it stays unread. */
  release(): void {
    this.#queue.release();
  }

  /** Drops the unread events and ends the iteration. */
  close(): void {
    this.#queue.close();
  }

  /** Lets the unread events be read, then rejects with the error. */
  fail(error: unknown): void {
    this.#queue.fail(error);
  }
}
