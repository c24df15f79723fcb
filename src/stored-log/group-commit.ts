import type { SessionId } from '../core/ids.ts';
import type { Envelope } from '../core/log/envelope.ts';
import type { EventCodec } from '../core/log/event-codec.ts';
import type { LoggedEvent } from '../core/log/events.ts';
import { type RecordedEvent, record } from '../core/log/recorded-event.ts';
import type { StreamId } from '../core/log/streams.ts';
import {
  type Addendum,
  type AppendOptions,
  type AskForAddendum,
  StaleVersionError,
} from '../ports/event-store.ts';
import type { AppendRequest, Committed, Refusal } from './append-request.ts';
import { encodeAll } from './stored-row.ts';

interface PendingAppend {
  request: AppendRequest;
  recorded: readonly RecordedEvent[];
  readonly addendum: AskForAddendum | undefined;
  readonly settled: PromiseWithResolvers<Envelope<LoggedEvent>[]>;
}

/**
 * Gathers the appends that arrive while a batch is being written, so that they share the next sync. One batch is in
 * flight at a time. Each append of a batch is settled separately.
 */
export class GroupCommit {
  readonly #post: (batch: AppendRequest[]) => void;
  readonly #codec: EventCodec;
  readonly #epochOf: (streamId: StreamId) => number | undefined;
  #gathered: PendingAppend[] = [];
  #inFlight: PendingAppend[] = [];
  #drained: PromiseWithResolvers<void> | undefined;

  /** @param epochOf the epoch in which this node owns the stream now. */
  constructor(
    post: (batch: AppendRequest[]) => void,
    codec: EventCodec,
    epochOf: (streamId: StreamId) => number | undefined = () => undefined,
  ) {
    this.#post = post;
    this.#codec = codec;
    this.#epochOf = epochOf;
  }

  append(
    sessionId: SessionId,
    expectedSeq: number,
    events: readonly LoggedEvent[],
    { open, title, origin, addendum }: AppendOptions = {},
  ): Promise<Envelope<LoggedEvent>[]> {
    const settled = Promise.withResolvers<Envelope<LoggedEvent>[]>();
    const recorded = record(events, origin);
    // A node that gives a stream up may still have an append waiting, which must not count as one to nobody's stream.
    const epoch = this.#epochOf(sessionId);
    const request = { sessionId, expectedSeq, ...encodeAll(recorded, this.#codec), open, title, epoch };
    this.#gathered.push({ request, recorded, addendum, settled });
    if (this.#inFlight.length === 0 && this.#gathered.length === 1) this.#postSoon();
    return settled.promise;
  }

  /** How many appends are not settled. */
  get waiting(): number {
    return this.#inFlight.length + this.#gathered.length;
  }

  /** Settles the batch in flight, which is on disk. */
  commit({ time, refused }: Committed): void {
    const batch = this.#takeBatch();
    const refusalOf = (index: number) => refused.find((refusal) => refusal.index === index);
    for (const [index, append] of batch.entries()) settle(append, time, refusalOf(index));
  }

  /** Rejects the batch in flight, of which nothing is on disk. */
  fail(error: Error): void {
    for (const { settled } of this.#takeBatch()) settled.reject(error);
  }

  /** Rejects all appends. Call it when nothing can be written any more. */
  abandon(error: Error): void {
    const abandoned = [...this.#inFlight, ...this.#gathered];
    this.#inFlight = [];
    this.#gathered = [];
    for (const { settled } of abandoned) settled.reject(error);
    this.#drained?.resolve();
  }

  /** Resolves when every append so far is settled. */
  async drained(): Promise<void> {
    if (this.#inFlight.length === 0 && this.#gathered.length === 0) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  #takeBatch(): PendingAppend[] {
    const batch = this.#inFlight;
    this.#inFlight = [];
    if (this.#gathered.length > 0) this.#postSoon();
    else this.#drained?.resolve();
    return batch;
  }

  /**
   * Waits for the end of this turn of the event loop, because each batch costs a wake-up and a sync. If several appends
   * have come by then, more tend to follow, so it waits for one more turn. What comes in that turn and may get an
   * addendum has had no time for it, and is left to the next batch.
   */
  #postSoon(): void {
    setImmediate(() => {
      const { length } = this.#gathered;
      if (length > 1) setImmediate(() => this.#postGathered(length));
      else this.#postGathered(length);
    });
  }

  /** @param before the number of appends that came in an earlier turn of the event loop. */
  #postGathered(before: number): void {
    const batch: PendingAppend[] = [];
    const later: PendingAppend[] = [];
    /** Appends to one stream stay in their order. */
    const held = new Set<SessionId>();
    for (const [index, append] of this.#gathered.entries()) {
      const { sessionId } = append.request;
      if ((index >= before && append.addendum) || held.has(sessionId)) {
        held.add(sessionId);
        later.push(append);
      } else if (this.#isReady(append)) batch.push(append);
    }
    this.#gathered = later;
    this.#inFlight = batch;
    if (batch.length > 0) this.#post(batch.map(({ request }) => request));
    // None was ready, or `abandon` was called meanwhile.
    else this.#takeBatch();
  }

  /** Adds the addendum. If that fails, so does the append. */
  #isReady(append: PendingAppend): boolean {
    try {
      const more = append.addendum?.(append.recorded);
      if (more) this.#extend(append, more);
      return true;
    } catch (error) {
      append.settled.reject(error);
      return false;
    }
  }

  #extend(append: PendingAppend, more: Addendum): void {
    const { request, recorded } = append;
    const { events, origin, open } = more;
    const added = record(events, origin);
    const { types, data } = encodeAll(added, this.#codec);
    append.recorded = [...recorded, ...added];
    append.request = {
      ...request,
      types: [...request.types, ...types],
      data: [...request.data, ...data],
      open,
    };
  }
}

function settle({ request, recorded, settled }: PendingAppend, time: number, refusal?: Refusal): void {
  const { sessionId, expectedSeq } = request;
  if (refusal !== undefined) {
    settled.reject(
      'error' in refusal ? refusal.error : new StaleVersionError(sessionId, expectedSeq, refusal.actual),
    );
    return;
  }
  settled.resolve(
    recorded.map(({ event, meta }, index) => ({
      sessionId,
      seq: expectedSeq + 1 + index,
      time,
      event,
      meta,
    })),
  );
}
