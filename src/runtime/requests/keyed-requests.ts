import type { z } from 'zod';
import { contentHash } from '../../core/content-hash.ts';
import { asServiceError, ServiceError } from '../../core/errors.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { ServiceEvent } from '../../core/log/events.ts';
import { StorageFullError } from '../../core/log/storage-full.ts';
import { REQUEST_STREAMS, type StreamId } from '../../core/log/streams.ts';
import { IDEMPOTENCY_TTL_MS, isExpired, requireSamePayload } from '../../core/request/idempotency.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { answerOf, evolveRequest, isRefusal, type RequestState } from '../../core/request/request-state.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';

/** The work that a request asks for, after its names were resolved and its arguments checked. */
export interface Work<T> {
  /** Whether doing it twice has the same effect as doing it once. */
  readonly repeatable: boolean;
  run(): Promise<T>;
}

type Prepare<T> = () => Work<T> | Promise<Work<T>>;

/** Identifies a request. The same key means the same request only within one scope. */
export interface RequestIdentity<T> {
  readonly key: IdempotencyKey | undefined;
  /** Request type and its subject, such as `session.fork` and the session's id. */
  readonly scope: readonly string[];
  /** Schema of the stored answer. */
  readonly answer: z.ZodType<T>;
  readonly origin: Origin;
}

interface Asked {
  readonly key: IdempotencyKey;
  readonly origin: Origin;
  /** Whether the log has this key. Until then it is not known whether the payload fits the key. */
  begun: boolean;
}

/** A request whose `request.begun` is in the log. */
interface Begun {
  readonly stream: StreamId;
  readonly key: IdempotencyKey;
  readonly origin: Origin;
  readonly work: Work<unknown>;
}

interface Running {
  readonly asked: Asked;
  readonly answer: Promise<unknown>;
}

/** How often expired keys are erased. */
const SWEEP_MS = 60 * 60_000;
const PAGE_STREAMS = 500;

/**
 * Runs a request with an idempotency key once. A repeated request gets the same answer, also while the first one runs
 * and after a restart. Each request has a small stream of its own in the log.
 */
export class KeyedRequests implements AsyncDisposable {
  readonly #store: EventStore;
  readonly #log: Logger;
  /** By stream. */
  readonly #running = new Map<string, Running>();
  readonly #sweeper: NodeJS.Timeout;
  #sweeping: Promise<unknown> = Promise.resolve();
  #stopping = false;

  constructor(store: EventStore, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#sweeper = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  /** @param prepare throws to refuse the request: then nothing was done, and the key stays free. */
  async once<T>({ key, scope, answer, origin }: RequestIdentity<T>, prepare: Prepare<T>): Promise<T> {
    if (!key) return (await prepare()).run();
    const stream = await streamOf(scope, key);
    let running = this.#running.get(stream);
    while (running && !running.asked.begun && running.asked.key.fingerprint !== key.fingerprint) {
      await Promise.allSettled([running.answer]);
      running = this.#running.get(stream);
    }
    if (running) requireSamePayload(running.asked.key, key);
    return answer.parse(
      await (running?.answer ?? this.#begin(stream, { key, origin, begun: false }, prepare)),
    );
  }

  /** Erases expired keys, page by page so that nobody waits long. Never rejects. */
  async sweep(now = Date.now()): Promise<void> {
    try {
      let after: string | undefined = REQUEST_STREAMS;
      while (after !== undefined && !this.#stopping) {
        const page = this.#sweepPage(after, now - IDEMPOTENCY_TTL_MS);
        this.#sweeping = page.catch(() => undefined);
        after = await page;
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'expired idempotency keys could not be erased');
    }
  }

  /** Call before closing what requests depend on: a request that this cuts off counts as interrupted, not as failed. */
  stop(): void {
    this.#stopping = true;
    clearInterval(this.#sweeper);
  }

  /** Resolves when the end of every running request is in the log. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await Promise.allSettled([this.#sweeping, ...[...this.#running.values()].map(({ answer }) => answer)]);
  }

  /** Registers the request synchronously, so that a second one with the same key finds it. */
  async #begin(stream: StreamId, asked: Asked, prepare: Prepare<unknown>): Promise<unknown> {
    const answer = this.#answer(stream, asked, prepare);
    this.#running.set(stream, { asked, answer });
    try {
      return await answer;
    } finally {
      this.#running.delete(stream);
    }
  }

  async #answer(stream: StreamId, asked: Asked, prepare: Prepare<unknown>): Promise<unknown> {
    const { key, origin } = asked;
    // A sweep may be erasing an expired request with this key.
    await this.#sweeping;
    const known = await this.#load(stream, key);
    if (known?.outcome) return answerOf(known.outcome);
    if (known && !known.repeatable) throw outcomeUnknown(key);
    const work = await prepare();
    if (!known)
      await this.#append(stream, 0, { type: 'request.begun', key, repeatable: work.repeatable }, origin);
    asked.begun = true;
    return this.#run({ stream, key, origin, work });
  }

  /** What the log says of the request. Undefined when it has expired. */
  async #load(stream: StreamId, key: IdempotencyKey): Promise<RequestState | undefined> {
    const envelopes = await this.#store.read(stream, 0);
    const known = envelopes.reduce<RequestState | undefined>(
      (state, { event }) => evolveRequest(state, event),
      undefined,
    );
    if (!known) return undefined;
    if (isExpired(known.key, key)) {
      await this.#store.erase(stream);
      return undefined;
    }
    requireSamePayload(known.key, key);
    return known;
  }

  async #run(begun: Begun): Promise<unknown> {
    let answer: unknown;
    try {
      answer = await begun.work.run();
    } catch (thrown) {
      if (this.#stopping) throw thrown;
      const error = asServiceError(thrown);
      if (isRefusal(error)) await this.#store.erase(begun.stream);
      else await this.#end(begun, { type: 'request.failed', error: error.body });
      throw thrown;
    }
    await this.#end(begun, { type: 'request.answered', answer });
    return answer;
  }

  /** When the disk is full here, the work was done already. A request that is not repeatable must not be offered a retry. */
  async #end({ stream, key, origin, work }: Begun, end: ServiceEvent): Promise<void> {
    try {
      await this.#append(stream, 1, end, origin);
    } catch (error) {
      throw error instanceof StorageFullError && !work.repeatable ? outcomeUnknown(key, error) : error;
    }
  }

  async #append(stream: StreamId, expectedSeq: number, event: ServiceEvent, origin: Origin): Promise<void> {
    await this.#store.append(stream, expectedSeq, [event], { origin });
  }

  /**
   * Requests that arrive during a page wait for it. Requests that run are left alone: they may have written their stream
   * again since the index was read.
   * @returns the id after which the next page begins.
   */
  async #sweepPage(after: string, before: number): Promise<string | undefined> {
    const inUse = new Set(this.#running.keys());
    const streams = await this.#store.sessions({ after, limit: PAGE_STREAMS });
    const requests = streams.filter(({ sessionId }) => sessionId.startsWith(REQUEST_STREAMS));
    const expired = requests.filter(
      ({ sessionId, createdAt }) => createdAt <= before && !inUse.has(sessionId),
    );
    if (expired.length > 0) await this.#store.erase(...expired.map(({ sessionId }) => sessionId));
    return requests.length < PAGE_STREAMS ? undefined : requests.at(-1)?.sessionId;
  }
}

function outcomeUnknown({ id }: IdempotencyKey, cause?: Error): ServiceError {
  const details = {
    key: id,
    reason: 'it was begun, its end was never recorded, and it is not safe to repeat',
    suggestion: 'See whether it took effect. To do it again, send it with a new key.',
  };
  return new ServiceError(
    'OUTCOME_UNKNOWN',
    'Nobody knows whether this request took effect.',
    details,
    cause,
  );
}

/** Hashed, because keys have any length and alphabet. */
async function streamOf(scope: readonly string[], { id }: IdempotencyKey): Promise<string> {
  return `${REQUEST_STREAMS}${await contentHash([...scope, id])}`;
}
