import type { MouseEvent, ReactNode } from 'react';
import { adjust, useLocation } from '../app/location.ts';
import { Button } from '../ui/button.tsx';
import style from './side-by-side.module.css';

interface SelectableTurnProps {
  readonly turnId: string;
  readonly children: ReactNode;
}

/**
 * A turn of the chat that can be chosen: by its button, or by a click anywhere on it while a panel stands beside the
 * chat. That panel then shows the turn.
 */
export function SelectableTurn({ turnId, children }: SelectableTurnProps) {
  const { beside, turnId: chosen } = useLocation();
  const isSelected = turnId === chosen;
  const toggle = () => adjust({ turnId: isSelected ? undefined : turnId, seq: undefined });
  const onClick = ({ target, currentTarget }: MouseEvent) => {
    // React also tells of clicks in a dialog that the turn has opened.
    if (!beside || !(target instanceof Element) || !currentTarget.contains(target)) return;
    const isOther = target.closest('a, button, input, label, select, summary, textarea') !== null;
    const isReading = window.getSelection()?.isCollapsed === false;
    if (!isOther && !isReading) toggle();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same for the keyboard
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same
    <div
      className={style.turn}
      data-turn-id={turnId}
      data-selected={isSelected}
      data-selectable={beside !== undefined}
      onClick={onClick}
    >
      {children}
      <Button
        kind="quiet"
        className={style.show ?? ''}
        aria-pressed={isSelected}
        title={isSelected ? 'Follow the newest turn again' : 'Show the steps of this turn beside the chat'}
        onClick={() => (beside ? toggle() : adjust({ beside: 'timeline', turnId, seq: undefined }))}
      >
        Steps
      </Button>
    </div>
  );
}
