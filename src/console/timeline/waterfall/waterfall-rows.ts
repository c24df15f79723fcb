import type { TimedEvent } from '../../service/timed-event.ts';
import { type Cut, clockOf, longestWait } from './turn-clock.ts';
import { type SpanKind, type Step, type TurnTrace, tracesOf } from './turn-trace.ts';

/** A piece of a bar, in drawn milliseconds since the beginning of the turn. */
export interface Piece {
  readonly kind: SpanKind;
  readonly fromMs: number;
  readonly toMs: number;
  /** How long it really took so far. */
  readonly realMs: number;
  readonly isOpen: boolean;
}

export interface TurnRow {
  readonly kind: 'turn';
  readonly trace: TurnTrace;
  /** Length of the drawing. */
  readonly drawnMs: number;
  /** How long the turn really took so far. */
  readonly realMs: number;
  readonly commitsMs: readonly number[];
}

export interface StepRow {
  readonly kind: 'step';
  readonly turnId: string;
  readonly step: Step;
  readonly pieces: readonly Piece[];
  /** The long waits of the turn that lie in this row. */
  readonly cuts: readonly Cut[];
}

/** An event of the session between turns: a reset or a fork. */
export interface MarkRow {
  readonly kind: 'mark';
  readonly event: TimedEvent;
}

export type WaterfallRow = TurnRow | StepRow | MarkRow;

export interface Waterfall {
  readonly rows: readonly WaterfallRow[];
  /** Length of the longest turn in the drawing. */
  readonly drawnMs: number;
  /** Whether a long wait is drawn shorter than it was. */
  readonly isCut: boolean;
}

/** The turns and, between them, the resets and forks of the session. They do not depend on the time. */
export interface Traces {
  readonly turns: readonly TurnTrace[];
  readonly marks: readonly TimedEvent[];
  readonly isRunning: boolean;
}

export function readTraces(events: readonly TimedEvent[]): Traces {
  const turns = tracesOf(events);
  return {
    turns,
    marks: events.filter(({ event }) => event === 'reset' || event === 'forked'),
    isRunning: turns.some(({ endMs }) => endMs === null),
  };
}

/** @param nowMs Where the bars of a running turn end. */
export function waterfallOf({ turns, marks }: Traces, nowMs: number): Waterfall {
  const waitMs = longestWait(turns, nowMs);
  const blocks = [
    ...turns.map((trace) => ({ seq: trace.seq, rows: rowsOfTurn(trace, nowMs, waitMs) })),
    ...marks.map((event) => ({ seq: event.seq, rows: [{ kind: 'mark' as const, event }] })),
  ].toSorted((a, b) => a.seq - b.seq);
  const rows = blocks.flatMap((block): readonly WaterfallRow[] => block.rows);
  return {
    rows,
    drawnMs: rows.reduce((most, row) => (row.kind === 'turn' ? Math.max(most, row.drawnMs) : most), 0),
    isCut: rows.some((row) => row.kind === 'step' && row.cuts.length > 0),
  };
}

function rowsOfTurn(trace: TurnTrace, nowMs: number, waitMs: number): WaterfallRow[] {
  const { turnId, startMs, steps, commitsMs } = trace;
  const endMs = Math.max(startMs, trace.endMs ?? nowMs);
  const { drawn, cuts } = clockOf(trace, nowMs, waitMs);
  const rows = steps.map((step): StepRow => {
    const pieces = step.spans.map(({ kind, startMs: from, endMs: to }): Piece => {
      const end = Math.max(from, to ?? endMs);
      return { kind, fromMs: drawn(from), toMs: drawn(end), realMs: end - from, isOpen: to === null };
    });
    return { kind: 'step', turnId, step, pieces, cuts: cuts.filter((cut) => isWaitedIn(pieces, cut)) };
  });
  const turn: TurnRow = {
    kind: 'turn',
    trace,
    drawnMs: drawn(endMs),
    realMs: endMs - startMs,
    commitsMs: commitsMs.map(drawn),
  };
  return [turn, ...rows];
}

function isWaitedIn(pieces: readonly Piece[], { atMs, drawnMs }: Cut): boolean {
  return pieces.some(
    ({ kind, fromMs, toMs }) =>
      (kind === 'queue' || kind === 'approval') && fromMs < atMs + drawnMs && toMs > atMs,
  );
}

/** Seq of the event that a row stands for: the end of a step, the message of a turn. */
export function seqOf(row: WaterfallRow): number {
  switch (row.kind) {
    case 'turn':
      return row.trace.seq;
    case 'step':
      return row.step.seqs.at(-1) ?? 0;
    case 'mark':
      return row.event.seq;
    default:
      return row satisfies never;
  }
}

export function turnIdOf(row: WaterfallRow): string | undefined {
  if (row.kind === 'turn') return row.trace.turnId;
  return row.kind === 'step' ? row.turnId : undefined;
}

/** The row of the chosen event or, without one, of the chosen turn. -1 when there is none. */
export function rowOfChoice(
  rows: readonly WaterfallRow[],
  { turnId, seq }: { readonly turnId?: string | undefined; readonly seq?: number | undefined },
): number {
  const exact = rows.findIndex((row) =>
    row.kind === 'step' ? seq !== undefined && row.step.seqs.includes(seq) : seqOf(row) === seq,
  );
  if (exact !== -1) return exact;
  return rows.findIndex((row) => turnId !== undefined && turnIdOf(row) === turnId);
}

/** How many rows stand before the first row of that seq or a later one. Steps stand with their turn. */
export function rowsBeforeSeq(rows: readonly WaterfallRow[], seq: number): number {
  const index = rows.findIndex((row) => row.kind !== 'step' && seqOf(row) >= seq);
  return index === -1 ? rows.length : index;
}

/** How many rows from this one on belong to the same turn. */
export function rowsOfSameTurn(rows: readonly WaterfallRow[], first: number): number {
  const row = rows[first];
  const turnId = row && turnIdOf(row);
  if (turnId === undefined) return 1;
  const rest = rows.slice(first).findIndex((other) => turnIdOf(other) !== turnId);
  return rest === -1 ? rows.length - first : rest;
}

/** Index of the row that the key chooses; null when the key chooses none. */
export function rowAfterKey(count: number, chosenAt: number, key: string): number | null {
  const last = count - 1;
  const next = {
    ArrowDown: chosenAt + 1,
    ArrowUp: chosenAt === -1 ? last : chosenAt - 1,
    Home: 0,
    End: last,
  }[key];
  return next === undefined || count === 0 ? null : Math.max(0, Math.min(last, next));
}

/** Length of the drawing of the turn to which the row belongs; undefined for a row of no turn. */
export function drawnLengthAt(rows: readonly WaterfallRow[], at: number): number | undefined {
  const row = rows[at];
  const turnId = row && turnIdOf(row);
  const turn = rows.slice(0, at + 1).findLast((other) => other.kind === 'turn');
  return turnId === undefined || turn?.kind !== 'turn' ? undefined : turn.drawnMs;
}
