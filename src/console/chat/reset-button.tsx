import { useState } from 'react';
import { useFeed } from '../service/use-session.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

/** Starts the conversation over, after it has asked. */
export function ResetButton({ isEmpty }: { readonly isEmpty: boolean }) {
  const feed = useFeed();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setAsking(true)} disabled={isEmpty}>
        Reset
      </Button>
      {isAsking && (
        <ConfirmDialog
          title="Reset the conversation?"
          text="The model forgets everything that was said. A running reply and waiting messages are cancelled. You still see the messages here."
          action="Reset the conversation"
          onConfirm={() => void feed.do((client) => client.reset())}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
