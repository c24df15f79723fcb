import type { Span, TurnTrace } from './turn-trace.ts';

/** A long wait that is drawn shorter than it was. */
export interface Cut {
  /** Where it begins and how long it is in the drawing, in drawn milliseconds since the beginning of the turn. */
  readonly atMs: number;
  readonly drawnMs: number;
  /** How long it really was. */
  readonly realMs: number;
}

/** Where moments of a turn are drawn. A wait of an hour would push everything else out of sight, so it is cut. */
export interface TurnClock {
  readonly cuts: readonly Cut[];
  /** Drawn milliseconds since the beginning of the turn. */
  readonly drawn: (timeMs: number) => number;
}

/** In a turn without work, waits are still drawn this long. */
const MIN_WAIT_MS = 500;

/** Waits that are longer than twice this are drawn with this length: half of the longest work of all turns. */
export function longestWait(traces: readonly TurnTrace[], nowMs: number): number {
  const works = traces.map((trace) =>
    workOf(trace, nowMs).reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0),
  );
  return Math.max(MIN_WAIT_MS, works.reduce((a, b) => Math.max(a, b), 0) / 2);
}

export function clockOf(trace: TurnTrace, nowMs: number, waitMs: number): TurnClock {
  const { startMs } = trace;
  const endMs = Math.max(startMs, trace.endMs ?? nowMs);
  const cuts: (Cut & { readonly fromMs: number })[] = [];
  let saved = 0;
  for (const { startMs: from, endMs: to } of between(workOf(trace, nowMs), startMs, endMs)) {
    const realMs = to - from;
    if (realMs <= 2 * waitMs) continue;
    cuts.push({ fromMs: from, atMs: from - startMs - saved, drawnMs: waitMs, realMs });
    saved += realMs - waitMs;
  }
  const drawn = (timeMs: number): number =>
    cuts.reduce((sum, { fromMs, drawnMs, realMs }) => {
      const inside = Math.min(realMs, Math.max(0, timeMs - fromMs));
      return sum - inside * (1 - drawnMs / realMs);
    }, timeMs - startMs);
  return { cuts, drawn };
}

interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** When the model or a tool worked, without overlaps, in order. */
function workOf({ steps }: TurnTrace, nowMs: number): Interval[] {
  const spans = steps.flatMap((step) => step.spans).filter(isWork);
  const merged: Interval[] = [];
  for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const end = Math.max(startMs, endMs ?? nowMs);
    const last = merged.at(-1);
    if (last && startMs <= last.endMs)
      merged[merged.length - 1] = { ...last, endMs: Math.max(last.endMs, end) };
    else merged.push({ startMs, endMs: end });
  }
  return merged;
}

const isWork = ({ kind }: Span): boolean => kind === 'model' || kind === 'tool';

/** The times between the intervals. */
function* between(intervals: readonly Interval[], startMs: number, endMs: number): Generator<Interval> {
  let from = startMs;
  for (const interval of intervals) {
    if (interval.startMs > from) yield { startMs: from, endMs: interval.startMs };
    from = Math.max(from, interval.endMs);
  }
  if (endMs > from) yield { startMs: from, endMs };
}
