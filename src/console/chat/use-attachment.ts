import { useState } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { errorText } from '../service/api-error.ts';
import { useFeed } from '../service/use-session.ts';
import { fileSize } from '../ui/quantity.ts';
import { useChat } from './chat-context.ts';
import { imageOf } from './image-file.ts';
import { useDraft } from './use-draft.ts';

export interface Attachment {
  readonly image: Image | null;
  /** Whether an image is still being read. */
  readonly isReading: boolean;
  readonly remove: () => void;
  /** Takes the first image of the files. */
  readonly attach: (files: FileList | null) => void;
}

/**
 * The image that goes with the next message of the session.
 * @param maxBytes the largest that the service takes; undefined if that is not known, or if it takes any.
 */
export function useAttachment(maxBytes = Infinity): Attachment {
  const feed = useFeed();
  const { focusComposer } = useChat();
  const [{ image }, { setImage }] = useDraft(feed.sessionId);
  const [reading, setReading] = useState(0);
  const attach = (files: FileList | null): void => {
    const file = [...(files ?? [])].find(({ type }) => type.startsWith('image/'));
    if (!file) return;
    if (file.size > maxBytes) {
      feed.notify(
        `${file.name} has ${fileSize(file.size)}, and this service takes images of at most ${fileSize(maxBytes)}: choose a smaller one.`,
      );
      return;
    }
    setReading((count) => count + 1);
    imageOf(file)
      .then(setImage, (error: unknown) => feed.notify(errorText(error)))
      .finally(() => setReading((count) => count - 1));
    focusComposer();
  };
  return { image, isReading: reading > 0, remove: () => setImage(null), attach };
}
