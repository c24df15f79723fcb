import type { z } from 'zod';
import {
  asServiceError,
  isStorageFailure,
  outcomeUnknown,
  ServiceError,
  serviceStopping,
} from '../../core/errors.ts';
import type { Origin } from '../../core/log/event-metadata.ts';
import type { ServiceEvent } from '../../core/log/events.ts';
import { mayBeStored, StorageAwayError } from '../../core/log/storage-away.ts';
import type { StreamId } from '../../core/log/streams.ts';
import { isExpired, requireSamePayload } from '../../core/request/idempotency.ts';
import type { IdempotencyKey } from '../../core/request/request-events.ts';
import { answerOf, leavesKeyFree, type RequestState } from '../../core/request/request-state.ts';
import { type EventStore, StaleVersionError } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Membership, SessionElsewhereError } from '../../ports/membership.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { Pauses } from '../../timing/pauses.ts';
import { againWhenStale } from '../streams/again-when-stale.ts';
import { ExpiredRequests } from './expired-requests.ts';
import { LateEnds } from './late-ends.ts';
import { type RequestRecord, readRequest, requestStream } from './request-stream.ts';

/** The work that a request asks for, after its names were resolved and its arguments checked. */
export interface Work<T> {
  /** Whether doing it twice has the same effect as doing it once. */
  readonly repeatable: boolean;
  /** @param isAgain whether it was begun before, and may have been done: its end was not recorded. */
  run(isAgain: boolean): Promise<T>;
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
  /** Whether the log has, or had, this key. Until then it is not known whether the payload fits the key. */
  begun: boolean;
}

type Outcome = NonNullable<RequestState['outcome']>;

/** A request that this process has to do. Its `request.begun` is in the log. */
interface Begun {
  readonly stream: StreamId;
  readonly key: IdempotencyKey;
  readonly origin: Origin;
  readonly work: Work<unknown>;
  readonly isAgain: boolean;
  /** seq after which its end belongs. */
  readonly head: number;
}

export interface KeyedRequestsOptions {
  /** The nodes that write the same log, if there are others: they may be doing what has begun and not ended. */
  readonly nodes?: Pick<Membership, 'self' | 'living' | 'refresh'> | undefined;
  /** What the waits for other nodes go by. A simulated one, in tests. */
  readonly clock?: Clock;
}

interface Running {
  readonly asked: Asked;
  readonly answer: Promise<unknown>;
}

/** How often expired keys are erased. */
const SWEEP_MS = 60 * 60_000;
/** How often the log is asked whether another node has ended a request, and how many times, while that node lives. */
const POLL_MS = 100;
const MAX_POLLS = 300;

/**
 * Runs a request with an idempotency key once. A repeated request gets the same answer, also while the first one runs
 * and after a restart. Each request has a small stream of its own in the log.
 *
 * Of several nodes that get a request at the same time, the log lets one begin it. The others wait for its end, for half a
 * minute at most, and no longer than that node lives. A sweep cannot erase a stream on condition that nobody has begun it
 * anew since the index was read. If that happens, the node that does the request records it again at its end, so only a
 * repetition until then is done twice.
 */
export class KeyedRequests implements AsyncDisposable {
  readonly #store: EventStore;
  /** By stream. */
  readonly #running = new Map<StreamId, Running>();
  readonly #expired: ExpiredRequests;
  readonly #late: LateEnds;
  readonly #nodes: KeyedRequestsOptions['nodes'];
  readonly #pauses: Pauses;
  readonly #sweeper: NodeJS.Timeout;
  #stopping = false;

  constructor(store: EventStore, log: Logger, { nodes, clock = systemClock }: KeyedRequestsOptions = {}) {
    this.#store = store;
    this.#expired = new ExpiredRequests({ store, log, running: this.#running });
    this.#nodes = nodes;
    this.#pauses = new Pauses(clock);
    this.#late = new LateEnds(log, this.#pauses);
    this.#sweeper = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  /** @param prepare throws to refuse the request: then nothing was done, and the key stays free. */
  async once<T>({ key, scope, answer, origin }: RequestIdentity<T>, prepare: Prepare<T>): Promise<T> {
    if (!key) return this.#work(await prepare(), { isAgain: false, cutOff: stoppedMeanwhile });
    const stream = await requestStream(scope, key);
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

  /** Erases expired keys. Requests that arrive while a page of them is erased wait for it. Never rejects. */
  sweep(now = Date.now()): Promise<void> {
    return this.#expired.sweep(now);
  }

  /** Call before closing what requests depend on: a request that this cuts off counts as interrupted, not as failed. */
  stop(): void {
    this.#stopping = true;
    this.#late.stop();
    this.#pauses.stop();
    this.#expired.stop();
    clearInterval(this.#sweeper);
  }

  /** Resolves when the end of every running request is in the log, or cannot be recorded now. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await Promise.allSettled([
      this.#expired.settled(),
      ...[...this.#running.values()].map(({ answer }) => answer),
    ]);
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
    // A sweep may be erasing an expired request with this key.
    await this.#expired.settled();
    await this.#late.settled(stream);
    const next = await againWhenStale(() => this.#claim(stream, asked, prepare));
    return 'work' in next ? this.#run(next) : answerOf(next);
  }

  /** Decides whether this process does the request, or answers how it ended. */
  async #claim(stream: StreamId, asked: Asked, prepare: Prepare<unknown>): Promise<Begun | Outcome> {
    const { key, origin } = asked;
    const { state, head } = this.#nodes ? await this.#settled(stream, asked) : await this.#load(stream, key);
    if (state?.outcome) return state.outcome;
    if (state && !state.repeatable) throw endUnknown(key);
    const work = await prepare();
    const isAgain = state !== undefined;
    const begun = { stream, key, origin, work, isAgain, head: isAgain ? head : head + 1 };
    if (!state) await this.#recordBegun(begun);
    asked.begun = true;
    return begun;
  }

  /** @param cutOff what the client hears of work that fails because what it needs has ended with the service. */
  async #work<T>(
    work: Work<T>,
    { isAgain, cutOff }: { isAgain: boolean; cutOff: () => ServiceError },
  ): Promise<T> {
    try {
      return await work.run(isAgain);
    } catch (thrown) {
      const isCutOff = this.#stopping && thrown instanceof ServiceError && !leavesKeyFree(thrown);
      throw isCutOff ? cutOff() : thrown;
    }
  }

  /** Nothing is done without this event. If the log has it in spite of an error, the key must be free again. */
  async #recordBegun(begun: Begun): Promise<void> {
    const { stream, key, work, head, origin } = begun;
    try {
      await this.#append(stream, head - 1, [this.#begunBy(key, work)], origin);
    } catch (error) {
      if (!mayBeStored(error)) throw error;
      this.#freeLater(begun);
      throw new StorageAwayError(error.message, { cause: error });
    }
  }

  /** Waits while another node may be doing the request. */
  async #settled(stream: StreamId, asked: Asked): Promise<RequestRecord> {
    let record = await this.#load(stream, asked.key);
    for (let polls = 0; record.state && !record.state.outcome && polls < MAX_POLLS; polls += 1) {
      asked.begun = true;
      const { node } = record.state;
      const isOver = await this.#isOver(node);
      if (!isOver) await this.#pauses.pause(POLL_MS);
      if (this.#stopping) throw serviceStopping();
      // Also when it is over: the node may have recorded the end since the log was read.
      record = await this.#load(stream, asked.key);
      if (isOver && record.state?.node === node) break;
    }
    return record;
  }

  /** Whether the node does not do the request any more. Of this one that is so, because only one runs at a time here. */
  async #isOver(node: number | undefined): Promise<boolean> {
    if (!this.#nodes || node === undefined) return false;
    if (node === this.#nodes.self) return true;
    if (this.#nodes.living.has(node)) return false;
    // The node may have joined after the others were read.
    await this.#nodes.refresh();
    return !this.#nodes.living.has(node);
  }

  /** What the log says of the request, as long as it has not expired. */
  async #load(stream: StreamId, key: IdempotencyKey): Promise<RequestRecord> {
    const { state, head } = await readRequest(this.#store, stream);
    if (!state) return { state, head };
    if (isExpired(state.key, key)) {
      // An erasure could hit what another node has just begun. So there the request begins anew in the same stream.
      if (this.#nodes) return { state: undefined, head };
      await this.#store.erase(stream);
      return { state: undefined, head: 0 };
    }
    requireSamePayload(state.key, key);
    return { state, head };
  }

  async #run(begun: Begun): Promise<unknown> {
    let answer: unknown;
    try {
      answer = await this.#work(begun.work, { isAgain: begun.isAgain, cutOff: serviceStopping });
    } catch (thrown) {
      if (this.#stopping) throw thrown;
      const error = asServiceError(thrown);
      const isUnknown = error.code === 'OUTCOME_UNKNOWN' && !begun.work.repeatable;
      if (!isUnknown && (leavesKeyFree(error) || isElsewhere(thrown))) await this.#free(begun);
      else {
        const { body } = isUnknown ? endUnknown(begun.key) : error;
        const other = await this.#end(begun, { type: 'request.failed', error: body });
        if (other) return answerOf(other);
      }
      throw thrown;
    }
    const other = await this.#end(begun, { type: 'request.answered', answer });
    return other ? answerOf(other) : answer;
  }

  /**
   * When nothing can be recorded here, the work was done already. A request that is not repeatable must not be offered a
   * retry.
   *
   * @returns the outcome that the log has already, when another node has repeated the request and was first.
   */
  async #end(begun: Begun, end: ServiceEvent): Promise<Outcome | undefined> {
    const { key, work } = begun;
    try {
      return await this.#recordEnd(begun, end);
    } catch (error) {
      if (error instanceof StorageAwayError) {
        this.#late.add(begun.stream, async () => {
          await this.#recordEnd(begun, end);
        });
      }
      throw isStorageFailure(error) && !work.repeatable ? endUnknown(key, error) : error;
    }
  }

  async #recordEnd(begun: Begun, end: ServiceEvent): Promise<Outcome | undefined> {
    const { stream, head, origin } = begun;
    try {
      await this.#append(stream, head, [end], origin);
      return undefined;
    } catch (error) {
      if (error instanceof StaleVersionError) return this.#endElsewhere(begun, end);
      throw error;
    }
  }

  /** Nothing was done, or it may be done again: the next request with this key is a new one. */
  async #free(begun: Begun): Promise<void> {
    try {
      await this.#store.erase(begun.stream);
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      this.#freeLater(begun);
    }
  }

  /** Unless what failed has been done nevertheless, and the request has begun anew. */
  #freeLater({ stream, head }: Begun): void {
    this.#late.add(stream, async () => {
      const found = await readRequest(this.#store, stream);
      if (found.head === head && found.state?.node === this.#nodes?.self) await this.#store.erase(stream);
    });
  }

  /** Another node has repeated the request, or has erased the stream because it took the key for expired. */
  #endElsewhere({ stream, key, origin, work }: Begun, end: ServiceEvent): Promise<Outcome | undefined> {
    return againWhenStale(async () => {
      const { state, head } = await readRequest(this.#store, stream);
      if (head === 0) await this.#append(stream, 0, [this.#begunBy(key, work), end], origin);
      return state?.key.fingerprint === key.fingerprint ? state.outcome : undefined;
    });
  }

  #begunBy(key: IdempotencyKey, { repeatable }: Work<unknown>): ServiceEvent {
    return { type: 'request.begun', key, repeatable, ...(this.#nodes && { node: this.#nodes.self }) };
  }

  async #append(
    stream: StreamId,
    expectedSeq: number,
    events: readonly ServiceEvent[],
    origin: Origin,
  ): Promise<void> {
    await this.#store.append(stream, expectedSeq, events, { origin });
  }
}

/** Whether nothing was done, because the session has left this node. */
function isElsewhere(thrown: unknown): boolean {
  return thrown instanceof SessionElsewhereError || thrown instanceof StaleVersionError;
}

function stoppedMeanwhile(): ServiceError {
  return outcomeUnknown({ reason: 'the service has stopped before this was done' });
}

function endUnknown({ id }: IdempotencyKey, cause?: Error): ServiceError {
  return outcomeUnknown(
    {
      key: id,
      reason: 'it was begun, its end was never recorded, and it is not safe to repeat',
      suggestion: 'See whether it took effect. To do it again, send it with a new key.',
    },
    cause,
  );
}
