import type { SessionId } from '../../core/ids.ts';
import type { EventCodec } from '../../core/log/event-codec.ts';
import {
  type AdoptedEvent,
  requireForkPoint,
  type SessionMark,
  StaleVersionError,
} from '../../ports/event-store.ts';
import { chainHash, chainStart, type Link } from '../../stored-log/chain.ts';
import type { EncodedEvents } from '../../stored-log/stored-row.ts';
import { storedTitle } from './append-statement.ts';
import type { Database } from './database.ts';
import { idleLimit } from './idle-limit.ts';
import type { Session } from './sql-session.ts';
import { readHeads } from './stream-index.ts';
import { pagesOf, type ReadPage, readPage } from './stream-reader.ts';

/** Rows of an insertion. */
const PART_EVENTS = 500;
const PART_CHARACTERS = 1_000_000;

interface NewFork extends Pick<SessionMark, 'open'> {
  readonly from: SessionId;
  readonly at: number;
  readonly to: SessionId;
  readonly closing: EncodedEvents;
  readonly title: string | null | undefined;
  /** The node that owns the new session. Undefined: none. */
  readonly owner: number | undefined;
}

/** Copies the events of a stream up to `at` into a new one. Call it in a transaction. @returns how many events that has. */
export async function forkStream(
  session: Session,
  database: Database,
  { from, at, to, closing, title, open, owner }: NewFork,
): Promise<number> {
  const { schema } = database;
  const time = Date.now();
  const heads = await readHeads(session, schema, [from, to]);
  requireForkPoint(from, at, heads.get(from)?.seq ?? 0);
  requireNew(to, heads.get(to)?.seq);
  const target = new NewStream(session, schema, to);
  const read: ReadPage = (after, limit) => readPage(session, database, from, after, limit);
  for await (const links of pagesOf(read, 0, at)) for (const link of links) await target.add(link);
  // The original may have been erased meanwhile: each page is read for itself.
  requireForkPoint(from, at, target.head);
  for (const [index, data] of closing.data.entries())
    await target.add({ seq: at + 1 + index, time, type: closing.types[index] ?? '', data });
  await target.begin({ created: time, updated: time, open, title, owner });
  return at + closing.data.length;
}

/** Stores events of another log as a new stream. Call it in a transaction. @returns how many there are. */
export async function adoptStream(
  session: Session,
  { schema }: Database,
  {
    sessionId,
    events,
    codec,
  }: { sessionId: SessionId; events: AsyncIterable<AdoptedEvent>; codec: EventCodec },
): Promise<number> {
  requireNew(sessionId, (await readHeads(session, schema, [sessionId])).get(sessionId)?.seq);
  // The events may come slowly.
  await session.rows({ text: idleLimit(0) });
  const target = new NewStream(session, schema, sessionId);
  let seq = 0;
  let created = 0;
  let updated = 0;
  let mark: SessionMark = { open: false };
  for await (const { time, event, meta = null, mark: after } of events) {
    seq += 1;
    if (seq === 1) created = time;
    updated = time;
    mark = after;
    await target.add({ seq, time, type: event.type, data: codec.encode({ event, meta }) });
  }
  // From here on, others wait for the locks of this transaction.
  await session.rows({ text: idleLimit() });
  if (seq > 0) await target.begin({ created, updated, ...mark });
  return seq;
}

interface NewMark extends Pick<SessionMark, 'open'> {
  readonly created: number;
  readonly updated: number;
  readonly title?: string | null | undefined;
  readonly owner?: number | undefined;
}

/** Has what does not fit in one part, until the transaction ends. */
const STAGING = 'new_events';

/**
 * A stream that is written in parts. Until it begins, nobody waits for it: a node has all its appends in one batch, so an append
 * to the same id that waited would hold up all of its sessions.
 */
class NewStream {
  readonly #session: Session;
  readonly #schema: string;
  readonly #stream: SessionId;
  #isStaged = false;
  #part: (Link & { readonly hash: string })[] = [];
  #characters = 0;
  #head = 0;
  #hash = chainStart;

  constructor(session: Session, schema: string, stream: SessionId) {
    this.#session = session;
    this.#schema = schema;
    this.#stream = stream;
  }

  /** Seq of the last event. */
  get head(): number {
    return this.#head;
  }

  async add({ seq, time, type, data }: Link): Promise<void> {
    const link = { seq, time, type, data };
    this.#hash = chainHash(this.#hash, this.#stream, link);
    this.#head = seq;
    this.#part.push({ ...link, hash: this.#hash });
    this.#characters += data.length;
    if (this.#part.length >= PART_EVENTS || this.#characters >= PART_CHARACTERS) await this.#stage();
  }

  /** Throws a `StaleVersionError` if there is such a stream. */
  async begin({ created, updated, open, title, owner }: NewMark): Promise<void> {
    const begun = await this.#session.rows({
      text: `
        INSERT INTO ${this.#schema}.streams (stream, head, hash, created, updated, open, title, owner)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING stream`,
      values: [
        ...[this.#stream, this.#head, this.#hash, created, updated, open],
        ...[storedTitle(title), owner ?? null],
      ],
    });
    if (begun.length === 0) {
      const heads = await readHeads(this.#session, this.#schema, [this.#stream]);
      throw new StaleVersionError(this.#stream, 0, heads.get(this.#stream)?.seq ?? 0);
    }
    const events = `${this.#schema}.events`;
    if (this.#isStaged)
      await this.#session.rows({ text: `INSERT INTO ${events} SELECT * FROM ${STAGING}`, mayBeLong: true });
    await this.#write(events);
  }

  async #stage(): Promise<void> {
    if (!this.#isStaged)
      await this.#session.rows({
        text: `CREATE TEMPORARY TABLE ${STAGING} (LIKE ${this.#schema}.events) ON COMMIT DROP`,
      });
    this.#isStaged = true;
    await this.#write(STAGING);
  }

  async #write(table: string): Promise<void> {
    const part = this.#part;
    this.#part = [];
    this.#characters = 0;
    if (part.length === 0) return;
    await this.#session.rows({
      text: `
        INSERT INTO ${table} (stream, seq, time, type, data, hash)
        SELECT $1, e.* FROM unnest($2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[]) AS e`,
      values: [
        this.#stream,
        part.map(({ seq }) => seq),
        part.map(({ time }) => time),
        part.map(({ type }) => type),
        part.map(({ data }) => data),
        part.map(({ hash }) => hash),
      ],
    });
  }
}

function requireNew(sessionId: SessionId, actual = 0): void {
  if (actual > 0) throw new StaleVersionError(sessionId, 0, actual);
}
