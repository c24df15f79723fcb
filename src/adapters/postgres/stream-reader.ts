import { z } from 'zod';
import { PAGE_CHARACTERS } from '../../ports/event-store.ts';
import { chainHash, chainStart, type Link } from '../../stored-log/chain.ts';
import type { Database } from './database.ts';
import type { Session } from './sql-session.ts';
import { Bigint } from './stream-index.ts';

/** Rows of one query. */
const PAGE_ROWS = 500;
/** The largest number that the column holds. Clients may name any. */
const MAX_SEQ = 2_147_483_647;

const EndRow = z.object({ head: z.int(), last: z.string(), seq: z.null() });
const LinkRow = z.object({
  /** The end of the stream. */
  head: z.int(),
  last: z.string(),
  seq: z.int(),
  time: Bigint,
  type: z.string(),
  data: z.string(),
  hash: z.string(),
});
const PageRow = z.union([LinkRow, EndRow]);

/** The tables differ from what was written. */
class DamagedStreamError extends Error {
  override readonly name = 'DamagedStreamError';
}

type Source = Pick<Database, 'schema' | 'shown'>;

/** A page of a stream, and the end of the stream. */
export interface LinkPage {
  readonly head: number;
  readonly links: readonly Link[];
}

export type ReadPage = (afterSeq: number, limit: number) => Promise<LinkPage>;

/** The events of a stream after a seq, page by page. @param read reads one page, as `readPage` does. */
export async function* pagesOf(
  read: ReadPage,
  afterSeq: number,
  limit: number,
): AsyncGenerator<readonly Link[], void, void> {
  let seq = afterSeq;
  for (let left = limit; left > 0; ) {
    const { head, links } = await read(seq, left);
    if (links.length > 0) yield links;
    seq += links.length;
    left -= links.length;
    if (seq >= head) return;
  }
}

/**
 * Some events of a stream after a seq. Each is checked against the one before it, and the last one against the end of the
 * stream. Throws a `DamagedStreamError` at the first that is missing or was changed.
 */
export async function readPage(
  session: Session,
  source: Source,
  stream: string,
  afterSeq: number,
  limit: number,
): Promise<LinkPage> {
  if (afterSeq >= MAX_SEQ) return { head: 0, links: [] };
  const rows = Math.min(PAGE_ROWS, limit);
  const found = await session.rows({
    name: 'page',
    // The event at `afterSeq` comes along: the next one is linked to it. Lengths are known without reading the texts.
    text: `
      SELECT s.head, s.hash AS last, e.seq, e.time, e.type, e.data, e.hash
      FROM ${source.schema}.streams s
      LEFT JOIN (
        SELECT stream, seq, time, type, data, hash, sum(octet_length(data)) FILTER (WHERE seq > $2) OVER (ORDER BY seq) AS length
        FROM ${source.schema}.events
        WHERE stream = $1 AND seq BETWEEN $2 AND $3
      ) e ON e.stream = s.stream AND (e.length IS NULL OR e.length - octet_length(e.data) < ${PAGE_CHARACTERS})
      WHERE s.stream = $1
      ORDER BY e.seq`,
    values: [stream, afterSeq, Math.min(afterSeq + rows, MAX_SEQ)],
  });
  const page = found.map((row) => PageRow.parse(row));
  const [first] = page;
  if (!first || afterSeq >= first.head) return { head: first?.head ?? 0, links: [] };
  const links: Link[] = [];
  let seq = afterSeq;
  let length = 0;
  let previous: string | undefined = afterSeq === 0 ? chainStart : undefined;
  const refuse = (reason: string): never => {
    throw new DamagedStreamError(
      `the log in PostgreSQL at ${source.shown} is damaged: session ${stream}, seq ${seq + 1} cannot be read: ${reason}; restore a backup`,
    );
  };
  for (const row of page) {
    if (row.seq === null) break;
    if (row.seq === afterSeq) {
      previous = row.hash;
      continue;
    }
    if (row.seq !== seq + 1) refuse(`found seq ${row.seq} in its place`);
    if (previous === undefined) refuse('the event before it is missing');
    if (chainHash(previous ?? '', stream, row) !== row.hash) refuse('its checksum is wrong');
    if (row.seq === row.head && row.hash !== row.last) refuse('it is not the last event');
    if (row.seq > row.head) refuse(`the session ends at seq ${row.head}`);
    links.push(row);
    length += Buffer.byteLength(row.data);
    seq = row.seq;
    previous = row.hash;
  }
  if (seq < Math.min(first.head, afterSeq + rows) && length < PAGE_CHARACTERS) refuse('it is missing');
  return { head: first.head, links };
}
