import type { TokenUsage } from '../../../core/turn/reply-parts.ts';
import { span } from '../../ui/time.ts';
import type { Outcome, SpanKind, Step, TurnTrace } from './turn-trace.ts';
import type { Piece } from './waterfall-rows.ts';

const outcomeWords: Readonly<Record<Outcome, string>> = {
  open: 'so far',
  succeeded: '',
  failed: 'failed',
  denied: 'denied',
  cancelled: 'cancelled',
  resumed: 'lost in a restart',
};

const kindWords: Readonly<Record<SpanKind, string>> = {
  queue: 'in the queue',
  model: 'model call',
  tool: 'running',
  approval: 'waiting for approval',
};

/** Such as `2.4 s, 1,204 → 350 tokens`. */
export function turnWords({ outcome, usage }: TurnTrace, realMs: number): string {
  return [`${span(realMs)} ${outcomeWords[outcome]}`.trim(), ...(usage ? [tokenWords(usage)] : [])].join(
    ' · ',
  );
}

/** Such as `340 ms`, or `waited 12.0 s, ran 2 ms` for a call that was approved. */
export function stepWords({ outcome }: Step, pieces: readonly Piece[]): string {
  const [first, second] = pieces;
  const times =
    first && second
      ? `waited ${span(first.realMs)}, ran ${span(second.realMs)}`
      : pieces.map((piece) => (piece.kind === 'approval' ? spanWords(piece) : span(piece.realMs))).join('');
  return `${times} ${outcomeWords[outcome]}`.trim();
}

/** Such as `12.0 s waiting for approval`. */
export function spanWords({ kind, realMs }: Piece): string {
  return `${span(realMs)} ${kindWords[kind]}`;
}

/** Such as `1,204 → 350 tokens`: those that went in, and those that came out. */
export function tokenWords({ inputTokens, outputTokens }: TokenUsage): string {
  return `${inputTokens.toLocaleString('en')} → ${outputTokens.toLocaleString('en')} tokens`;
}
