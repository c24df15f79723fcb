import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly text: string;
  /** What the button that confirms says. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ title, text, action, onConfirm, onClose }: ConfirmDialogProps) {
  const confirm = () => {
    onClose();
    onConfirm();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
