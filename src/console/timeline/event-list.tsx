import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react';
import { isBrowsers } from '../ui/browser-keys.ts';
import { EventRow, GapRow } from './event-row.tsx';
import style from './timeline.module.css';
import { eventAfterKey, type Row, rowsBefore, rowsInView } from './timeline-rows.ts';
import { useScrollWindow } from './use-scroll-window.ts';

/** In pixels. timeline.module.css has the same number. */
const ROW_HEIGHT = 38;

interface EventListProps {
  /** Seq of the first loaded event. */
  readonly firstSeq: number;
  readonly rows: readonly Row[];
  readonly chosen: number | null;
  readonly onChoose: (seq: number) => void;
}

/** The events in order. Only the rows in view are rendered, so a long session costs no more. */
export function EventList({ firstSeq, rows, chosen, onChoose }: EventListProps) {
  const height = rows.length * ROW_HEIGHT;
  const { list, scroll, show, keepBelow } = useScrollWindow(height);
  const firstBefore = useRef(firstSeq);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only earlier events move what is in view
  useLayoutEffect(() => {
    if (firstSeq < firstBefore.current) keepBelow(rowsBefore(rows, firstBefore.current) * ROW_HEIGHT);
    firstBefore.current = firstSeq;
  }, [firstSeq]);
  const chosenAt = rows.findIndex((row) => row.kind === 'event' && row.event.seq === chosen);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll when an event is chosen, not when it moves
  useEffect(() => {
    if (chosenAt !== -1) show(chosenAt * ROW_HEIGHT, ROW_HEIGHT);
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (isBrowsers(event)) return;
    const seq = eventAfterKey(rows, chosen, event.key);
    if (seq === null) return;
    event.preventDefault();
    onChoose(seq);
  };
  const { first, end } = rowsInView(scroll, rows.length, ROW_HEIGHT);
  return (
    <div
      ref={list}
      className={style.list}
      role="listbox"
      aria-label="Events"
      aria-activedescendant={chosenAt >= first && chosenAt < end ? rowId(chosen) : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className={style.rows} role="presentation" style={{ height }}>
        {rows.slice(first, end).map((row, index) => (
          <PlacedRow
            key={row.kind === 'gap' ? `gap ${row.seq}` : row.event.seq}
            row={row}
            top={(first + index) * ROW_HEIGHT}
            chosen={chosen}
            onChoose={onChoose}
          />
        ))}
      </div>
    </div>
  );
}

interface PlacedRowProps {
  readonly row: Row;
  readonly top: number;
  readonly chosen: number | null;
  readonly onChoose: (seq: number) => void;
}

function PlacedRow({ row, top, chosen, onChoose }: PlacedRowProps) {
  if (row.kind === 'gap') return <GapRow ms={row.ms} top={top} />;
  const { event, sinceMs } = row;
  const { seq } = event;
  return (
    <EventRow
      id={rowId(seq)}
      event={event}
      sinceMs={sinceMs}
      top={top}
      isChosen={seq === chosen}
      onChoose={onChoose}
    />
  );
}

const rowId = (seq: number | null): string => `event-${seq}`;
