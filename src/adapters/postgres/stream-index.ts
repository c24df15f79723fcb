import { z } from 'zod';
import type { SessionFilter, SessionSummary } from '../../ports/event-store.ts';
import type { Head } from './append-statement.ts';
import type { Session } from './sql-session.ts';

/** The driver gives a bigint as text. Milliseconds since the epoch fit into a number. */
export const Bigint = z.string().transform(Number).pipe(z.int());
const HeadRow = z.object({
  stream: z.string(),
  head: z.int(),
  hash: z.string(),
  owner: Bigint.nullable(),
  epoch: z.int(),
});
const HashRow = z.object({ stream: z.string(), hash: z.string() });
const IdRow = z.object({ stream: z.string() });
const SummaryRow = z.object({
  stream: z.string(),
  head: z.int(),
  created: Bigint,
  updated: Bigint,
  open: z.boolean(),
  title: z.string().nullable(),
});

/** The end of a stream, and who owns it. */
export interface OwnedHead extends Head {
  readonly owner: number | null;
  readonly epoch: number;
}

/** The ends of these streams; none for a stream that does not exist. */
export async function readHeads(
  session: Session,
  schema: string,
  streams: readonly string[],
): Promise<ReadonlyMap<string, OwnedHead>> {
  const rows = await session.rows({
    name: 'heads',
    text: `SELECT stream, head, hash, owner, epoch FROM ${schema}.streams WHERE stream = ANY ($1)`,
    values: [streams],
  });
  return new Map(
    rows.map((row) => {
      const { stream, head, ...end } = HeadRow.parse(row);
      return [stream, { seq: head, ...end }];
    }),
  );
}

/** The hashes, by stream, of the events with which these appends would end, as far as the log has such events. */
export async function readHashes(
  session: Session,
  schema: string,
  appends: readonly { readonly stream: string; readonly head: Head }[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  if (appends.length === 0) return found;
  const rows = await session.rows({
    name: 'hashes',
    text: `
      SELECT e.stream, e.hash FROM ${schema}.events e
      JOIN unnest($1::text[], $2::int[]) AS w (stream, seq) ON e.stream = w.stream AND e.seq = w.seq`,
    values: [appends.map(({ stream }) => stream), appends.map(({ head }) => head.seq)],
  });
  for (const row of rows) {
    const { stream, hash } = HashRow.parse(row);
    found.set(stream, (found.get(stream) ?? new Set()).add(hash));
  }
  return found;
}

export async function listStreams(
  session: Session,
  schema: string,
  { sessionId, open, after, before, limit = Infinity }: SessionFilter,
): Promise<SessionSummary[]> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const require = (condition: string, value: unknown): void => {
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  if (sessionId !== undefined) require('stream =', sessionId);
  if (after !== undefined) require('stream >', after);
  if (before !== undefined) require('stream <', before);
  if (open !== undefined) conditions.push(open ? 'open' : 'NOT open');
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const most = Number.isFinite(limit) ? `LIMIT ${Math.max(0, Math.trunc(limit))}` : '';
  const columns = 'stream, head, created, updated, open, title';
  const rows = await session.rows({
    text: `SELECT ${columns} FROM ${schema}.streams ${where} ORDER BY stream ${most}`,
    values,
    // Whoever asks for one, or for a page, must not keep a connection that is dead from others.
    mayBeLong: sessionId === undefined && most === '',
  });
  return rows.map(summary);
}

export async function listIds(
  session: Session,
  schema: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await session.rows({
    name: 'ids',
    text: `SELECT stream FROM ${schema}.streams WHERE stream > $1 ORDER BY stream LIMIT $2`,
    values: [after, limit],
  });
  return rows.map((row) => IdRow.parse(row).stream);
}

function summary(row: unknown): SessionSummary {
  const { stream, head, created, updated, open, title } = SummaryRow.parse(row);
  return {
    sessionId: stream,
    head,
    createdAt: created,
    updatedAt: updated,
    open,
    ...(title !== null && { title: z.string().parse(JSON.parse(title)) }),
  };
}
