import type { Link } from '../../stored-log/chain.ts';
import type { Statement } from './sql-session.ts';

/** An append that is ready to be stored: its events are linked to the last one of the stream. */
export interface LinkedAppend {
  readonly stream: string;
  /** Seq and hash of the event that it follows. */
  readonly after: Head;
  /** Seq and hash of its last event; the same as `after` if it has none. */
  readonly head: Head;
  readonly links: readonly (Link & { readonly hash: string })[];
  /** Undefined: as it was. */
  readonly open: boolean | undefined;
  readonly title: string | null | undefined;
  /** The epoch of the ownership that it is appended under. Undefined: nobody owns the stream. */
  readonly epoch: number | undefined;
}

/** The end of a stream. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** Who appends, and when. */
export interface Writing {
  readonly schema: string;
  readonly node: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** In characters of JSON. Some megabytes take a busy database longer than the few rows of most appends ever take. */
const LONG = 1024 * 1024;

/**
 * One statement for appends to different streams: all events of an append are stored, with the new head of its stream, if
 * the stream ends with the event that it follows, the node has its lease, and it owns the stream in this epoch, and
 * nothing otherwise. Whoever begins a stream owns it. Its rows are the streams that were appended to; one without a stream
 * if the node has lost its lease. The lock on the row of the node is one that renewing the lease does not wait for, but
 * taking the log over does.
 */
export function appendStatement(writing: Writing, appends: readonly LinkedAppend[]): Statement {
  const [only] = appends;
  return only && appends.length === 1 && only.after.seq > 0
    ? continueStatement(writing, only)
    : batchStatement(writing, appends);
}

function batchStatement({ schema, node, time }: Writing, appends: readonly LinkedAppend[]): Statement {
  const links = appends.flatMap((append) => append.links);
  const streams = appends.flatMap(({ stream, links: { length } }) => Array<string>(length).fill(stream));
  return {
    name: 'append',
    mayBeLong: areLong(links),
    text: `
      WITH writer AS MATERIALIZED (
        SELECT node FROM ${schema}.nodes WHERE node = $15 FOR KEY SHARE
      ), wanted AS (
        SELECT w.* FROM writer, unnest($1::text[], $2::int[], ${list('$3')}, $4::int[], ${list('$5')}, $6::bool[], $7::bool[], ${list('$8')}, $16::int[])
          AS w (stream, after_seq, after_hash, seq, hash, open, has_title, title, epoch)
      ), continued AS (
        UPDATE ${schema}.streams s
        SET head = w.seq, hash = w.hash, open = coalesce(w.open, s.open),
          updated = CASE WHEN w.seq > w.after_seq THEN $9::bigint ELSE s.updated END,
          title = CASE WHEN w.has_title THEN w.title ELSE s.title END
        FROM wanted w
        WHERE w.after_seq > 0 AND s.stream = w.stream AND s.head = w.after_seq AND s.hash = w.after_hash
          AND (w.epoch IS NULL OR (s.owner = $15 AND s.epoch = w.epoch))
        RETURNING s.stream
      ), begun AS (
        INSERT INTO ${schema}.streams (stream, head, hash, created, updated, open, title, owner, epoch)
        SELECT w.stream, w.seq, w.hash, $9::bigint, $9::bigint, coalesce(w.open, false), w.title,
          CASE WHEN w.epoch IS NOT NULL THEN $15::bigint END, coalesce(w.epoch, 0)
        FROM wanted w WHERE w.after_seq = 0 AND w.seq > 0
        ON CONFLICT DO NOTHING
        RETURNING stream
      ), appended AS (
        SELECT stream FROM continued UNION ALL SELECT stream FROM begun
      ), stored AS (
        INSERT INTO ${schema}.events (stream, seq, time, type, data, hash)
        SELECT e.stream, e.seq, $9::bigint, e.type, e.data, e.hash
        FROM unnest($10::text[], $11::int[], ${list('$12')}, ${list('$13')}, ${list('$14')})
          AS e (stream, seq, type, data, hash)
        WHERE e.stream IN (SELECT stream FROM appended)
      )
      SELECT stream FROM appended UNION ALL SELECT NULL WHERE NOT EXISTS (SELECT FROM writer)`,
    values: [
      appends.map(({ stream }) => stream),
      array(appends.map(({ after }) => after.seq)),
      joined(appends.map(({ after }) => after.hash)),
      array(appends.map(({ head }) => head.seq)),
      joined(appends.map(({ head }) => head.hash)),
      array(appends.map(({ open }) => open ?? null)),
      array(appends.map(({ title }) => title !== undefined)),
      joined(appends.map(({ title }) => storedTitle(title) ?? '')),
      time,
      streams,
      array(links.map(({ seq }) => seq)),
      joined(links.map(({ type }) => type)),
      joined(links.map(({ data }) => data)),
      joined(links.map(({ hash }) => hash)),
      node,
      array(appends.map(({ epoch }) => epoch ?? null)),
    ],
  };
}

/**
 * The same for one append to a stream that there is, which most are where few clients write at once. The database has a
 * shorter plan to run, and less to split.
 */
function continueStatement(
  { schema, node, time }: Writing,
  { stream, after, head, links, open, title, epoch }: LinkedAppend,
): Statement {
  return {
    name: 'continue',
    mayBeLong: areLong(links),
    text: `
      WITH writer AS MATERIALIZED (
        SELECT node FROM ${schema}.nodes WHERE node = $1 FOR KEY SHARE
      ), appended AS (
        UPDATE ${schema}.streams
        SET head = $4, hash = $6, open = coalesce($7, open),
          updated = CASE WHEN $4 > $3 THEN $8::bigint ELSE updated END,
          title = CASE WHEN $9::bool THEN $10 ELSE title END
        WHERE stream = $2 AND head = $3 AND hash = $5 AND ($11::int IS NULL OR (owner = $1 AND epoch = $11))
          AND EXISTS (SELECT FROM writer)
        RETURNING stream
      ), stored AS (
        INSERT INTO ${schema}.events (stream, seq, time, type, data, hash)
        SELECT $2, e.seq, $8::bigint, e.type, e.data, e.hash
        FROM unnest($12::int[], ${list('$13')}, ${list('$14')}, ${list('$15')}) AS e (seq, type, data, hash)
        WHERE EXISTS (SELECT FROM appended)
      )
      SELECT stream FROM appended UNION ALL SELECT NULL WHERE NOT EXISTS (SELECT FROM writer)`,
    values: [
      node,
      stream,
      after.seq,
      head.seq,
      after.hash,
      head.hash,
      open ?? null,
      time,
      title !== undefined,
      storedTitle(title),
      epoch ?? null,
      array(links.map(({ seq }) => seq)),
      joined(links.map(({ type }) => type)),
      joined(links.map(({ data }) => data)),
      joined(links.map(({ hash }) => hash)),
    ],
  };
}

function areLong(links: LinkedAppend['links']): boolean {
  return links.reduce((length, { data }) => length + data.length, 0) > LONG;
}

/** In no text of JSON, which has control characters escaped, and in no hash or type of an event. Ids may contain it. */
const SEPARATOR = '\u001f';

/** Texts as one. In each element of an array, the driver looks for what to escape, which took a fifth of an append. */
function joined(texts: readonly string[]): string {
  return texts.join(SEPARATOR);
}

/** The texts again. Empty ones are null. */
function list(parameter: string): string {
  return `string_to_array(${parameter}::text, E'\\x1f', '')`;
}

/** A literal of an array, for the same reason. */
function array(values: readonly (number | boolean | null)[]): string {
  return `{${values.map(String).join(',')}}`;
}

/** As JSON: PostgreSQL's texts cannot hold every character. */
export function storedTitle(title: string | null | undefined): string | null {
  return title === undefined || title === null ? null : JSON.stringify(title);
}
