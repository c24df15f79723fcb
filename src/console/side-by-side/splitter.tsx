import type { KeyboardEvent, PointerEvent } from 'react';
import { isBrowsers } from '../ui/browser-keys.ts';
import style from './side-by-side.module.css';
import { SHARE } from './use-share.ts';

interface SplitterProps {
  /** The share of the pane on the left, in percent. */
  readonly share: number;
  readonly onChange: (share: number) => void;
}

const STEP = 4;

/** The line between two panes. It is moved by dragging or by the arrow keys; a double click centres it. */
export function Splitter({ share, onChange }: SplitterProps) {
  const onPointerMove = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    const panes = currentTarget.parentElement;
    if (!panes || !currentTarget.hasPointerCapture(pointerId)) return;
    const { left, width } = panes.getBoundingClientRect();
    onChange(((clientX - left) / width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isBrowsers(event)) return;
    const next = {
      ArrowLeft: share - STEP,
      ArrowRight: share + STEP,
      Home: SHARE.least,
      End: SHARE.most,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onChange(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the chat"
      aria-valuenow={share}
      aria-valuemin={SHARE.least}
      aria-valuemax={SHARE.most}
      tabIndex={0}
      className={style.splitter}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={onPointerMove}
      onDoubleClick={() => onChange(SHARE.usual)}
      onKeyDown={onKeyDown}
    />
  );
}
