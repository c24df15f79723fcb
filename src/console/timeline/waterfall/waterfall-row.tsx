import type { ReactNode } from 'react';
import { span } from '../../ui/time.ts';
import { summaryOf } from '../event-words.ts';
import style from './waterfall.module.css';
import type { Piece, StepRow, TurnRow, WaterfallRow } from './waterfall-rows.ts';
import { spanWords, stepWords, tokenWords, turnWords } from './waterfall-words.ts';

/** In pixels. */
export interface Place {
  readonly top: number;
  readonly labelWidth: number;
  readonly pixelsPerMs: number;
}

interface PlacedRowProps {
  readonly id: string;
  readonly row: WaterfallRow;
  readonly place: Place;
  readonly isChosen: boolean;
  readonly isOfChosenTurn: boolean;
  readonly onChoose: (row: WaterfallRow) => void;
}

export function PlacedRow({ id, row, place, isChosen, isOfChosenTurn, onChoose }: PlacedRowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active option
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      className={style.row}
      data-row={row.kind}
      data-of-chosen={isOfChosenTurn}
      style={{ top: place.top }}
      onClick={() => onChoose(row)}
    >
      <Content row={row} place={place} />
    </div>
  );
}

function Content({ row, place }: { readonly row: WaterfallRow; readonly place: Place }) {
  switch (row.kind) {
    case 'turn':
      return <TurnContent row={row} place={place} />;
    case 'step':
      return <StepContent row={row} place={place} />;
    case 'mark':
      return (
        <span className={style.mark}>
          {row.event.event} {summaryOf(row.event)}
        </span>
      );
    default:
      return row satisfies never;
  }
}

function TurnContent({ row, place }: { readonly row: TurnRow; readonly place: Place }) {
  const { trace, drawnMs, realMs, commitsMs } = row;
  const { labelWidth, pixelsPerMs } = place;
  return (
    <>
      <span className={style.message}>
        <strong>{trace.message}</strong>
        <small data-outcome={trace.outcome}>{turnWords(trace, realMs)}</small>
      </span>
      <span
        className={style.whole}
        style={{ left: labelWidth, width: Math.max(2, drawnMs * pixelsPerMs) }}
        title={`${commitsMs.length} events written to the log`}
      >
        {commitsMs.map((ms, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events are only added at the end
          <i key={index} style={{ left: ms * pixelsPerMs }} />
        ))}
      </span>
    </>
  );
}

function StepContent({ row, place }: { readonly row: StepRow; readonly place: Place }) {
  const { step, pieces, cuts } = row;
  const { labelWidth, pixelsPerMs } = place;
  const end = Math.max(...pieces.map(({ toMs }) => toMs));
  const tokens = step.usage && tokenWords(step.usage);
  return (
    <>
      <span className={style.label} style={{ width: labelWidth }} title={step.label}>
        {step.label}
      </span>
      <span className={style.track} style={{ left: labelWidth }}>
        {pieces.map((piece) => (
          <Bar key={piece.fromMs} piece={piece} outcome={step.outcome} pixelsPerMs={pixelsPerMs} />
        ))}
        {cuts.map(({ atMs, drawnMs, realMs }) => (
          <span
            key={atMs}
            className={style.cut}
            style={{ left: (atMs + drawnMs / 2) * pixelsPerMs }}
            title={`${span(realMs)}, drawn shorter`}
          />
        ))}
        <Words at={end * pixelsPerMs}>
          <span data-outcome={step.outcome}>{stepWords(step, pieces)}</span>
          {tokens && <span className={style.tokens}>{tokens}</span>}
        </Words>
      </span>
    </>
  );
}

interface BarProps {
  readonly piece: Piece;
  readonly outcome: string;
  readonly pixelsPerMs: number;
}

function Bar({ piece, outcome, pixelsPerMs }: BarProps) {
  const { kind, fromMs, toMs, isOpen } = piece;
  return (
    <span
      className={style.piece}
      data-kind={kind}
      data-outcome={outcome}
      data-open={isOpen}
      title={spanWords(piece)}
      style={{ left: fromMs * pixelsPerMs, width: Math.max(2, (toMs - fromMs) * pixelsPerMs) }}
    />
  );
}

/** Stands right behind the bar. */
function Words({ at, children }: { readonly at: number; readonly children: ReactNode }) {
  return (
    <span className={style.words} style={{ left: at + 8 }}>
      {children}
    </span>
  );
}
