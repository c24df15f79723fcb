import { type MouseEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';
import style from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Instead of the button that closes the dialog. */
  readonly actions?: ReactNode;
  /**
   * What closes it, in the words of HTML's attribute `closedby`, which not every browser has: also a click beside it, only
   * Escape and its buttons, or nothing for now.
   */
  readonly closedBy?: 'any' | 'closerequest' | 'none';
}

/**
 * A modal dialog. The browser keeps the focus inside, closes it with Escape, and gives the focus back. It stands outside of
 * the part that opens it, whose styles are not meant for it.
 */
export function Dialog({ title, onClose, children, actions, closedBy = 'any' }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const isPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // The browser gives the focus back only if the dialog is closed before it is removed.
    return () => shown?.close();
  }, []);
  const onClosed = () => {
    // The event comes late: the dialog may have been removed, or shown again.
    if (dialog.current === null || dialog.current.open) return;
    if (closedBy === 'none') dialog.current.showModal();
    else onClose();
  };
  // A selection of text that ends beside the dialog is a click there, too.
  const onClick = ({ target }: MouseEvent) => {
    if (closedBy === 'any' && isPressedBeside.current && target === dialog.current) dialog.current.close();
  };
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside the dialog does
    <dialog
      ref={dialog}
      className={style.dialog}
      aria-labelledby={heading}
      onClose={onClosed}
      onPointerDown={({ target }) => {
        isPressedBeside.current = target === dialog.current;
      }}
      onClick={onClick}
    >
      <div className={style.content}>
        <h2 id={heading}>{title}</h2>
        {children}
        <div className={style.actions}>
          {actions ?? (
            <Button onClick={() => dialog.current?.close()} disabled={closedBy === 'none'}>
              Close
            </Button>
          )}
        </div>
      </div>
    </dialog>,
    document.body,
  );
}
