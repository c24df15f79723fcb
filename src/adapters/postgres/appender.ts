import { LRUCache } from 'lru-cache';
import { StorageAwayError } from '../../core/log/storage-away.ts';
import { messageOf } from '../../core/thrown.ts';
import type { AppendRequest, Committed, Refusal } from '../../stored-log/append-request.ts';
import { chainHash, chainStart } from '../../stored-log/chain.ts';
import { appendStatement, type Head, type LinkedAppend } from './append-statement.ts';
import type { Database } from './database.ts';
import type { NodeLease } from './node-lease.ts';
import { isLost } from './postgres-errors.ts';
import type { Session } from './sql-session.ts';
import { type OwnedHead, readHashes, readHeads } from './stream-index.ts';

/** Streams whose last event is remembered, so that an append to them is one round trip. */
const MAX_HEADS = 100_000;
/** A stream may be erased and begun again while its head is read. */
const MAX_READINGS = 5;
const NO_EVENT: Head = { seq: 0, hash: chainStart };
/** This node has lost the stream, or has given it up, so its append is refused. */
const NOT_OWN: Head = { seq: -1, hash: '' };
/** Another node has begun the stream. The append is refused, also if the same event happens to be there. */
const NEVER_OWN: Head = { seq: -1, hash: '' };

const NONE: ReadonlyMap<number, LinkedAppend> = new Map();

/** An append of a batch. */
interface Pending {
  readonly index: number;
  readonly request: AppendRequest;
}

/** Appends to different streams. */
type Wave = readonly Pending[];

/** What becomes of a batch, if its transaction is committed. */
interface Outcome {
  /** The new ends of the streams. */
  readonly heads: Map<string, Head>;
  readonly refused: Refusal[];
}

type Lease = Pick<NodeLease, 'node' | 'lose'>;

/** Stores batches of appends. */
export class Appender {
  readonly #database: Database;
  readonly #lease: Lease;
  readonly #heads = new LRUCache<string, Head>({ max: MAX_HEADS });

  constructor(database: Database, lease: Lease) {
    this.#database = database;
    this.#lease = lease;
  }

  /**
   * Rejects if nothing of the batch is stored, or with a `StorageAwayError` that says that it may be. What a lost
   * connection leaves open is cleared up by asking again: the hash of its last event says whether an append is stored.
   */
  async append(batch: readonly AppendRequest[]): Promise<Committed> {
    const attempts = new BatchAttempts({
      schema: this.#database.schema,
      lease: this.#lease,
      known: this.#heads,
    });
    const waves = wavesOf(batch);
    const begun = performance.now();
    const { heads, refused } = await this.#insist(attempts, waves);
    for (const [stream, head] of heads) this.#heads.set(stream, head);
    return { time: attempts.time, appends: batch.length, syncMs: performance.now() - begun, refused };
  }

  async #insist(attempts: BatchAttempts, waves: readonly Wave[]): Promise<Outcome> {
    const store = (session: Session) => attempts.store(session, waves);
    try {
      return await this.#database.insist('append to', () =>
        waves.length > 1
          ? this.#database.transact(store, { lane: 'appends' })
          : this.#database.appending(store),
      );
    } catch (error) {
      throw attempts.mayBeStored
        ? new StorageAwayError(messageOf(error), { cause: error, mayBeStored: true })
        : error;
    }
  }

  /** Call it when the streams are gone. */
  forget(streams: readonly string[]): void {
    for (const stream of streams) this.#heads.delete(stream);
  }
}

interface AttemptDeps {
  readonly schema: string;
  readonly lease: Lease;
  /** The ends of streams, as they were last. */
  readonly known: Pick<LRUCache<string, Head>, 'get'>;
}

/** The attempts to store one batch. */
class BatchAttempts {
  readonly time = Date.now();
  readonly #deps: AttemptDeps;
  /** As they were sent last. The same events at the same time have the same hash, so the log says whether it has them. */
  readonly #sent = new Map<number, LinkedAppend>();
  #mayBeStored = false;
  /** An earlier attempt may have stored some of it: a head that is read now need not be what was appended to. */
  #isRepeated = false;

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
  }

  /** Whether it was not heard what became of an attempt. */
  get mayBeStored(): boolean {
    return this.#mayBeStored;
  }

  async store(session: Session, waves: readonly Wave[]): Promise<Outcome> {
    const outcome: Outcome = { heads: new Map(), refused: [] };
    this.#isRepeated = this.#sent.size > 0;
    for (const wave of waves) await this.#storeWave(session, wave, outcome);
    // What follows is the end of the transaction, if there are several.
    this.#mayBeStored ||= waves.length > 1;
    return outcome;
  }

  /** Stores appends to different streams. Most need one reading of nothing and one statement. */
  async #storeWave(session: Session, wave: readonly Pending[], outcome: Outcome): Promise<void> {
    let pending = wave;
    for (let reading = 0; pending.length > 0; reading += 1) {
      if (reading === MAX_READINGS) throw new Error('streams change as fast as they are read');
      const isFirst = reading === 0 && !this.#isRepeated;
      const heads = await this.#headsOf(session, pending, isFirst ? outcome.heads : null);
      const before = isFirst ? NONE : await this.#storedBefore(session, pending, heads);
      for (const append of before.values()) outcome.heads.set(append.stream, append.head);
      const ready = pending.filter(
        (one) => !before.has(one.index) && this.#isReady(one, heads.get(one.request.sessionId), outcome),
      );
      if (ready.length === 0) return;
      const linked = ready.map((one) => this.#linked(one, heads.get(one.request.sessionId) ?? NO_EVENT));
      const { schema, lease } = this.#deps;
      const writing = { schema, node: lease.node, time: this.time };
      const rows = await this.#heard(session.rows(appendStatement(writing, linked)));
      const stored = new Set(rows.map(({ stream }) => stream));
      if (stored.has(null)) throw lease.lose();
      for (const { stream, head } of linked) if (stored.has(stream)) outcome.heads.set(stream, head);
      pending = ready.filter(({ request }) => !stored.has(request.sessionId));
      // The rest of a batch may fail as a whole after this.
      this.#mayBeStored ||= pending.length > 0 && stored.size > 0;
    }
  }

  async #heard<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.#mayBeStored ||= isLost(error);
      throw error;
    }
  }

  /** @param presumed looks at what is known before it reads; null: what is known has proved wrong. */
  async #headsOf(
    session: Session,
    pending: readonly Pending[],
    presumed: ReadonlyMap<string, Head> | null,
  ): Promise<ReadonlyMap<string, Head>> {
    const heads = new Map<string, Head>();
    const unknown: string[] = [];
    for (const { request } of pending) {
      const { sessionId, expectedSeq, data } = request;
      const begins = expectedSeq === 0 && data.length > 0;
      const known = presumed?.get(sessionId) ?? (begins ? NO_EVENT : this.#deps.known.get(sessionId));
      if (presumed && known?.seq === expectedSeq) heads.set(sessionId, known);
      else unknown.push(sessionId);
    }
    if (unknown.length === 0) return heads;
    const read = await readHeads(session, this.#deps.schema, unknown);
    for (const { request } of pending) {
      const head = read.get(request.sessionId);
      if (head) heads.set(request.sessionId, this.#ownHead(request, head));
    }
    return heads;
  }

  /** A node appends only in the epoch in which it owns the stream. In another epoch, another node may have appended. */
  #ownHead({ epoch }: AppendRequest, head: OwnedHead): Head {
    if (epoch === undefined) return head;
    if (head.epoch !== epoch || head.owner === null) return NOT_OWN;
    return head.owner === this.#deps.lease.node ? head : NEVER_OWN;
  }

  /** The appends that an earlier attempt has stored, although its answer was lost. Later events may have followed. */
  async #storedBefore(
    session: Session,
    pending: readonly Pending[],
    heads: ReadonlyMap<string, Head>,
  ): Promise<ReadonlyMap<number, LinkedAppend>> {
    const sent = pending.flatMap(({ index }): [number, LinkedAppend][] => {
      const append = this.#sent.get(index);
      const isOwn = append && append.links.length > 0 && heads.get(append.stream) !== NEVER_OWN;
      return isOwn ? [[index, append]] : [];
    });
    const found = await readHashes(
      session,
      this.#deps.schema,
      sent.map(([, append]) => append),
    );
    return new Map(sent.filter(([, { stream, head }]) => found.get(stream)?.has(head.hash)));
  }

  /** False if it is refused, or if there is nothing to do. */
  #isReady(
    { index, request: { expectedSeq, data } }: Pending,
    head: Head = NO_EVENT,
    { refused }: Outcome,
  ): boolean {
    if (head.seq !== expectedSeq) refused.push({ index, actual: head.seq });
    // Without a stream there is nothing to mark.
    return head.seq === expectedSeq && head.seq + data.length > 0;
  }

  #linked({ index, request }: Pending, after: Head): LinkedAppend {
    const { sessionId: stream, types, data, open, title, epoch } = request;
    let { hash } = after;
    const links = data.map((json, place) => {
      const link = { seq: after.seq + 1 + place, time: this.time, type: types[place] ?? '', data: json };
      hash = chainHash(hash, stream, link);
      return { ...link, hash };
    });
    const head = { seq: after.seq + data.length, hash };
    const linked = { stream, after, head, links, open, title, epoch };
    this.#sent.set(index, linked);
    return linked;
  }
}

/** Splits a batch so that no part has two appends to one stream. Nearly always there is one part. */
function wavesOf(batch: readonly AppendRequest[]): readonly Wave[] {
  const waves: Pending[][] = [];
  const next = new Map<string, number>();
  for (const [index, request] of batch.entries()) {
    const number = next.get(request.sessionId) ?? 0;
    next.set(request.sessionId, number + 1);
    const wave = waves[number];
    if (wave) wave.push({ index, request });
    else waves.push([{ index, request }]);
  }
  return waves;
}
