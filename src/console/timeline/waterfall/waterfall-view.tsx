import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import type { TimedEvent } from '../../service/timed-event.ts';
import { isBrowsers } from '../../ui/browser-keys.ts';
import { rowsInView } from '../timeline-rows.ts';
import { useScrollWindow } from '../use-scroll-window.ts';
import { Ruler } from './ruler.tsx';
import { tidyLength } from './time-scale.ts';
import { useNow } from './use-now.ts';
import { useZoom } from './use-zoom.ts';
import style from './waterfall.module.css';
import { type Place, PlacedRow } from './waterfall-row.tsx';
import {
  drawnLengthAt,
  readTraces,
  rowAfterKey,
  rowOfChoice,
  rowsBeforeSeq,
  rowsOfSameTurn,
  seqOf,
  turnIdOf,
  type WaterfallRow,
  waterfallOf,
} from './waterfall-rows.ts';
import { ZoomBar } from './zoom-bar.tsx';

/** In pixels. waterfall.module.css has the same number. */
const ROW_HEIGHT = 30;
/** Room for the words behind the longest bar. */
const WORDS_WIDTH = 150;
const MIN_TRACK_WIDTH = 120;

export interface Choice {
  readonly turnId?: string | undefined;
  readonly seq?: number | undefined;
}

interface WaterfallViewProps {
  readonly events: readonly TimedEvent[];
  readonly choice: Choice;
  readonly onChoose: (choice: Choice) => void;
}

/** The turns as bars over time, each from its own beginning, so that their lengths can be compared. */
export function WaterfallView({ events, choice, onChoose }: WaterfallViewProps) {
  const traces = useMemo(() => readTraces(events), [events]);
  const now = useNow(traces.isRunning);
  const { rows, drawnMs, isCut } = useMemo(() => waterfallOf(traces, now), [traces, now]);
  const { list, scroll, show, keepBelow } = useScrollWindow(rows.length * ROW_HEIGHT);
  const firstSeq = events[0]?.seq ?? 1;
  const firstBefore = useRef(firstSeq);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only earlier events move what is in view
  useLayoutEffect(() => {
    if (firstSeq < firstBefore.current) keepBelow(rowsBeforeSeq(rows, firstBefore.current) * ROW_HEIGHT);
    firstBefore.current = firstSeq;
  }, [firstSeq]);
  const labelWidth = Math.round(Math.min(190, Math.max(112, scroll.width * 0.27)));
  const zoom = useZoom(list, labelWidth);
  const length = tidyLength(drawnMs);
  const track = Math.max(MIN_TRACK_WIDTH, scroll.width - labelWidth - WORDS_WIDTH) * zoom.factor;
  const pixelsPerMs = track / length;
  const chosenAt = rowOfChoice(rows, choice);
  const isMeasured = scroll.height > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll when a row is chosen, not when it moves
  useEffect(() => {
    const count = choice.seq === undefined ? rowsOfSameTurn(rows, chosenAt) : 1;
    if (chosenAt !== -1 && isMeasured) show(chosenAt * ROW_HEIGHT, count * ROW_HEIGHT);
  }, [choice.turnId, choice.seq, chosenAt === -1, isMeasured]);
  const choose = (row: WaterfallRow) => onChoose({ turnId: turnIdOf(row), seq: seqOf(row) });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isBrowsers(event)) return;
    const next = rows[rowAfterKey(rows.length, chosenAt, event.key) ?? -1];
    if (next) choose(next);
    else if (!zoom.onKey(event)) return;
    event.preventDefault();
  };
  const chosenLength = drawnLengthAt(rows, chosenAt);
  const onFit = () => zoom.fit((chosenLength ?? length) / length);
  const { first, end } = rowsInView(scroll, rows.length, ROW_HEIGHT);
  const placeOf = (index: number): Place => ({ top: index * ROW_HEIGHT, labelWidth, pixelsPerMs });
  return (
    <>
      <ZoomBar zoom={zoom} isCut={isCut} fits={chosenLength === undefined ? 'all' : 'turn'} onFit={onFit} />
      <Ruler labelWidth={labelWidth} scroll={scroll} pixelsPerMs={pixelsPerMs} />
      <div
        ref={list}
        className={style.list}
        role="listbox"
        aria-label="Steps of the turns"
        aria-activedescendant={chosenAt >= first && chosenAt < end ? rowId(chosenAt) : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <div
          className={style.rows}
          role="presentation"
          style={{ height: rows.length * ROW_HEIGHT, width: labelWidth + track + WORDS_WIDTH }}
        >
          {rows.slice(first, end).map((row, index) => (
            <PlacedRow
              key={rowId(first + index)}
              id={rowId(first + index)}
              row={row}
              place={placeOf(first + index)}
              isChosen={first + index === chosenAt}
              isOfChosenTurn={choice.turnId !== undefined && turnIdOf(row) === choice.turnId}
              onChoose={choose}
            />
          ))}
        </div>
      </div>
    </>
  );
}

const rowId = (index: number): string => `waterfall-${index}`;
