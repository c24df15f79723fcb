import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { useFeed } from '../service/use-session.ts';
import { Button } from '../ui/button.tsx';
import { useChat } from './chat-context.ts';
import style from './composer.module.css';
import { useAttachment } from './use-attachment.ts';
import type { ComposerState } from './use-composer.ts';

interface ComposerProps extends Omit<ComposerState, 'chat'> {
  readonly isBusy: boolean;
  /** @see useAttachment */
  readonly maxImageBytes: number | undefined;
  readonly onCancel: () => void;
}

/** The message box. Enter sends, Shift+Enter starts a new line. An image can be pasted, dropped or chosen. */
export function Composer({ box, text, setText, takeDue, isBusy, maxImageBytes, onCancel }: ComposerProps) {
  const feed = useFeed();
  const { say } = useChat();
  const { image, isReading, remove, attach } = useAttachment(maxImageBytes);
  // An image that is still being read would go with the next message.
  const canSend = text.trim() !== '' && feed.client !== null && !isReading;

  const send = (): void => {
    if (!canSend) return;
    setText('');
    remove();
    say(text, image);
  };
  useEffect(() => {
    if (canSend && takeDue()) send();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  /** The message box takes dropped text by itself. */
  const onFiles = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    if (event.type === 'drop') attach(event.dataTransfer.files);
  };
  return (
    <form
      className={style.composer}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDrop={onFiles}
      onDragOver={onFiles}
    >
      <div className={style.box}>
        {image && <Attachment image={image} onRemove={remove} />}
        <textarea
          ref={box}
          id="message"
          aria-label="Message"
          dir="auto"
          placeholder="Message the agent"
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={(event: ClipboardEvent) => attach(event.clipboardData.files)}
        />
        <div className={style.bar}>
          <ImageButton onFiles={attach} />
          <span className={style.hint}>{isBusy ? 'Esc cancels' : 'Enter sends'}</span>
          {/* Nothing takes the place of Cancel when it goes, so that a double click does nothing else. */}
          {isBusy && (
            <Button kind="danger" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button kind="primary" type="submit" disabled={!canSend}>
            Send
          </Button>
        </div>
      </div>
    </form>
  );
}

function ImageButton({ onFiles }: { readonly onFiles: (files: FileList | null) => void }) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={chooser}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        hidden
        onChange={({ target }) => {
          onFiles(target.files);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <Button kind="quiet" onClick={() => chooser.current?.click()}>
        Image
      </Button>
    </>
  );
}

function Attachment({ image, onRemove }: { readonly image: Image; readonly onRemove: () => void }) {
  return (
    <div className={style.attachment}>
      <img src={`data:${image.mimeType};base64,${image.base64}`} alt="To be sent" />
      <Button kind="quiet" onClick={onRemove}>
        Remove image
      </Button>
    </div>
  );
}
