import { type KeyboardEvent, useState } from 'react';
import { forkWith } from '../app/session-actions.ts';
import { useAccount, useMay } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { useFeed } from '../service/use-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import style from './chat.module.css';
import { useChat } from './chat-context.ts';
import type { TurnView } from './conversation.ts';
import { MessageImage } from './message-image.tsx';

/** The message of a turn. It can be edited, which continues in a fork and leaves this session as it is. */
export function UserMessage({ turn }: { readonly turn: TurnView }) {
  const { message, image, firstSeq } = turn;
  const feed = useFeed();
  const { focusComposer } = useChat();
  const account = useAccount();
  const mayFork = useMay('sessions:write');
  const [isEditing, setEditing] = useState(false);
  const [isSending, setSending] = useState(false);
  const close = () => {
    setEditing(false);
    focusComposer();
  };
  const send = (text: string): void => {
    setSending(true);
    const { sessionId } = feed;
    // The editor stays until the fork opens: a refusal must not lose what was written.
    forkWith({ sessionId, firstSeq, text, hasImage: image !== undefined, account })
      .catch((error: unknown) => feed.notify(errorText(error)))
      .finally(() => setSending(false));
  };
  // A turn that answers an earlier message brings none.
  if (message === '' && image === undefined) return null;
  if (isEditing) return <Editor text={message} isSending={isSending} onSend={send} onClose={close} />;
  return (
    <div className={style.message}>
      <div className={style.user}>
        <p dir="auto">{message}</p>
        {image && (
          <>
            <MessageImage sessionId={feed.sessionId} seq={firstSeq} />
            <Badge>
              {image.mimeType}, {Math.ceil(image.bytes / 1024)} KB
            </Badge>
          </>
        )}
      </div>
      <div className={style.actions}>
        <CopyButton text={message} what="the message" />
        {mayFork && (
          <Button kind="quiet" onClick={() => setEditing(true)} title="Edit it in a fork of this session">
            Edit
          </Button>
        )}
      </div>
    </div>
  );
}

interface EditorProps {
  readonly text: string;
  readonly isSending: boolean;
  readonly onSend: (text: string) => void;
  readonly onClose: () => void;
}

function Editor({ text, isSending, onSend, onClose }: EditorProps) {
  const [edited, setEdited] = useState(text);
  const canSend = edited.trim() !== '' && !isSending;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') {
      // Else it would cancel the running reply.
      event.preventDefault();
      onClose();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (canSend) onSend(edited);
    }
  };
  return (
    <div className={style.editor}>
      <textarea
        aria-label="Edited message"
        dir="auto"
        // biome-ignore lint/a11y/noAutofocus: the reader has just asked to edit
        autoFocus
        rows={Math.min(8, Math.max(2, edited.split('\n').length))}
        value={edited}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={style.editorActions}>
        <span>The edited message starts a fork. This session stays as it is.</span>
        <Button onClick={onClose}>Discard</Button>
        <Button kind="primary" disabled={!canSend} onClick={() => onSend(edited)}>
          Send in a fork
        </Button>
      </div>
    </div>
  );
}
