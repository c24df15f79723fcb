import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useRef, useState } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { errorText } from '../service/api.ts';
import { useFeed } from '../service/use-session.ts';
import { Button } from '../ui/button.tsx';
import style from './chat.module.css';
import { imageOf } from './image-file.ts';

/** The message box. Enter sends, Shift+Enter starts a new line. An image can be pasted, dropped or chosen. */
export function Composer({ isBusy }: { readonly isBusy: boolean }) {
  const feed = useFeed();
  const [text, setText] = useState('');
  const [image, setImage] = useState<Image | null>(null);
  const chooser = useRef<HTMLInputElement>(null);

  const attach = async (files: FileList | null): Promise<void> => {
    const file = [...(files ?? [])].find(({ type }) => type.startsWith('image/'));
    if (!file) return;
    try {
      setImage(await imageOf(file));
    } catch (error) {
      feed.notify(errorText(error));
    }
  };
  const send = async (): Promise<void> => {
    if (text.trim() === '' || !feed.client) return;
    setText('');
    setImage(null);
    try {
      await feed.client.send(text, image ? { imageData: image } : {});
    } catch (error) {
      feed.notify(errorText(error));
      setText(text);
      setImage(image);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const onPaste = (event: ClipboardEvent) => void attach(event.clipboardData.files);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    void attach(event.dataTransfer.files);
  };

  return (
    <form
      className={style.composer}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDrop={onDrop}
      onDragOver={(event) => event.preventDefault()}
    >
      {image && <Attachment image={image} onRemove={() => setImage(null)} />}
      <div className={style.line}>
        <textarea
          aria-label="Message"
          placeholder="Message the agent"
          rows={Math.min(8, text.split('\n').length)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <input
          ref={chooser}
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          hidden
          onChange={(event) => void attach(event.target.files)}
        />
        <Button onClick={() => chooser.current?.click()}>Image</Button>
        {isBusy && (
          <Button kind="danger" onClick={() => feed.do((client) => client.cancel())}>
            Cancel
          </Button>
        )}
        <Button kind="primary" type="submit" disabled={text.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
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
