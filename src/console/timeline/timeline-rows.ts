import type { TimedEvent } from '../service/timed-event.ts';
import { type EventKind, kindOf } from './event-words.ts';

export interface Filter {
  /** The kinds that are shown. */
  readonly kinds: ReadonlySet<EventKind>;
  /** Searched for in the event's JSON, ignoring case. */
  readonly text: string;
}

/** An event with the time since the shown event before it, or a long pause before event `seq`. */
export type Row =
  | { readonly kind: 'event'; readonly event: TimedEvent; readonly sinceMs: number | null }
  | { readonly kind: 'gap'; readonly ms: number; readonly seq: number };

/** A pause of at least this length gets a row of its own. */
const GAP_MS = 5_000;

export function rowsOf(events: readonly TimedEvent[], filter: Filter): Row[] {
  const rows: Row[] = [];
  let before: number | null = null;
  for (const event of events) {
    if (!isShown(event, filter)) continue;
    const time = Date.parse(event.time);
    // Live events have the time of the browser, whose clock may be behind that of the service.
    const sinceMs = before === null ? null : Math.max(0, time - before);
    before = time;
    if (sinceMs !== null && sinceMs >= GAP_MS) rows.push({ kind: 'gap', ms: sinceMs, seq: event.seq });
    rows.push({ kind: 'event', event, sinceMs });
  }
  return rows;
}

function isShown(event: TimedEvent, { kinds, text }: Filter): boolean {
  if (!kinds.has(kindOf(event))) return false;
  return text === '' || JSON.stringify(event).toLowerCase().includes(text.toLowerCase());
}

/** The number of rows before the first row of that seq or a later one. */
export function rowsBefore(rows: readonly Row[], seq: number): number {
  const index = rows.findIndex((row) => (row.kind === 'gap' ? row.seq : row.event.seq) >= seq);
  return index === -1 ? rows.length : index;
}

/** The rows in view, and a few more around them. `end` is exclusive. */
export function rowsInView(
  scroll: { readonly top: number; readonly height: number },
  count: number,
  rowHeight: number,
): { readonly first: number; readonly end: number } {
  const first = Math.floor(scroll.top / rowHeight) - OVERSCAN;
  const end = Math.ceil((scroll.top + scroll.height) / rowHeight) + OVERSCAN;
  return { first: Math.max(0, Math.min(first, count)), end: Math.max(0, Math.min(end, count)) };
}

const OVERSCAN = 12;

/** Seq of the event that the key chooses; null when the key chooses none. */
export function eventAfterKey(rows: readonly Row[], chosen: number | null, key: string): number | null {
  const seqs = rows.flatMap((row) => (row.kind === 'event' ? [row.event.seq] : []));
  const at = chosen === null ? -1 : seqs.indexOf(chosen);
  const last = seqs.length - 1;
  const next = { ArrowDown: at + 1, ArrowUp: at === -1 ? last : at - 1, Home: 0, End: last }[key];
  return next === undefined ? null : (seqs[Math.max(0, Math.min(last, next))] ?? null);
}
