import { type ReactNode, useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';
import style from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Instead of the button that closes the dialog. */
  readonly actions?: ReactNode;
}

/**
 * A modal dialog. The browser keeps the focus inside, closes it with Escape, and gives the focus back. It stands outside of
 * the part that opens it, whose styles are not meant for it.
 */
export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside the dialog does
    <dialog
      ref={dialog}
      className={style.dialog}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current.close()}
    >
      <div className={style.content}>
        <h2 id={heading}>{title}</h2>
        {children}
        <div className={style.actions}>
          {actions ?? <Button onClick={() => dialog.current?.close()}>Close</Button>}
        </div>
      </div>
    </dialog>,
    document.body,
  );
}
