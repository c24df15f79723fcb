import type { Link } from '../../../stored-log/chain.ts';
import type { EncodedEvents } from '../../../stored-log/stored-row.ts';

/*
 * A row holds the events of one append, because rows are most of what an append costs. Its `seq` is that of the last of
 * them, `type` has their types with a space between two, and `data` one event a line. A row with one event is as version
 * 2 wrote it.
 */

/** An append of more than one of these gets several rows: whoever reads one event reads and checks its whole row. */
const rowLimits = { events: 32, characters: 65_536 };

/** The rows for events that are stored together. */
export function packed(afterSeq: number, time: number, { types, data }: EncodedEvents): Link[] {
  const rows: Link[] = [];
  let from = 0;
  let characters = 0;
  const close = (end: number): void => {
    if (end > from)
      rows.push(rowOf(afterSeq + end, time, { types: types.slice(from, end), data: data.slice(from, end) }));
    from = end;
    characters = 0;
  };
  for (const [index, json] of data.entries()) {
    if (index - from >= rowLimits.events || characters + json.length > rowLimits.characters) close(index);
    characters += json.length;
  }
  close(data.length);
  return rows;
}

function rowOf(seq: number, time: number, { types, data }: EncodedEvents): Link {
  return { seq, time, type: types.join(' '), data: data.join('\n') };
}

/** The seq of the first event of a row. */
export function firstSeqOf({ seq, type }: Pick<Link, 'seq' | 'type'>): number {
  let first = seq;
  for (let space = type.indexOf(' '); space >= 0; space = type.indexOf(' ', space + 1)) first -= 1;
  return first;
}

/** The events of a row, each as a row of its own. */
export function eventsOf({ seq, time, type, data }: Link): Link[] {
  const types = type.split(' ');
  const lines = types.length === 1 ? [data] : data.split('\n');
  if (lines.length !== types.length)
    throw new Error(`the row has ${lines.length} events and ${types.length} types`);
  const before = seq - types.length;
  return types.map((one, index) => ({ seq: before + 1 + index, time, type: one, data: lines[index] ?? '' }));
}

/** The row without its events after `seq`. It holds at least one event up to there. */
export function cutAfter(row: Link, seq: number): Link {
  if (row.seq <= seq) return row;
  const kept = eventsOf(row).filter((event) => event.seq <= seq);
  return rowOf(seq, row.time, {
    types: kept.map(({ type }) => type),
    data: kept.map(({ data }) => data),
  });
}
