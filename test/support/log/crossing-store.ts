import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { SessionId } from '../../../src/core/ids.ts';
import type { Envelope } from '../../../src/core/log/envelope.ts';
import type { LoggedEvent } from '../../../src/core/log/events.ts';
import { isSession } from '../../../src/core/log/streams.ts';
import { WatchedStore } from './watched-store.ts';

/**
 * A log in which two answers to a call or a question cross: the first one is held before it is written, until a request that comes
 * after it has read the session.
 */
export class CrossingStore extends WatchedStore {
  readonly #held = Promise.withResolvers<void>();
  readonly #hasRead = Promise.withResolvers<void>();
  #isHeld = false;

  constructor() {
    super(memoryEventStore());
    this.beforeAppend = async (events) => {
      if (this.#isHeld || !events.some(({ type }) => ANSWERS.has(type))) return;
      this.#isHeld = true;
      this.#held.resolve();
      await this.#hasRead.promise;
    };
  }

  /** Resolves when the first answer is held. */
  get held(): Promise<void> {
    return this.#held.promise;
  }

  override async read(
    sessionId: SessionId,
    afterSeq: number,
    limit?: number,
  ): Promise<Envelope<LoggedEvent>[]> {
    const found = await super.read(sessionId, afterSeq, limit);
    if (this.#isHeld && isSession(sessionId)) this.#hasRead.resolve();
    return found;
  }

  override async *pages(
    sessionId: SessionId,
    afterSeq: number,
    limit?: number,
  ): AsyncGenerator<Envelope<LoggedEvent>[], void, void> {
    const note = (): void => {
      if (this.#isHeld && isSession(sessionId)) this.#hasRead.resolve();
    };
    for await (const page of super.pages(sessionId, afterSeq, limit)) {
      // Whoever reads may want no other page.
      note();
      yield page;
    }
    note();
  }
}

const ANSWERS: ReadonlySet<LoggedEvent['type']> = new Set([
  ...(['approval.granted', 'input.answered', 'tool-call.succeeded', 'tool-call.failed'] as const),
]);
