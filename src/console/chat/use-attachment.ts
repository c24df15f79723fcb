import { useSyncExternalStore } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { useAccount } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { useFeed } from '../service/use-session.ts';
import { useChat } from './chat-context.ts';
import { imageOf } from './image-file.ts';
import { keptImages } from './kept-images.ts';

export interface Attachment {
  readonly image: Image | null;
  readonly setImage: (image: Image | null) => void;
  /** Takes the first image of the files. */
  readonly attach: (files: FileList | null) => void;
}

/** The image that goes with the next message of the session. Another panel or session does not lose it. */
export function useAttachment(): Attachment {
  const feed = useFeed();
  const { focusComposer } = useChat();
  const account = useAccount();
  // Whoever signs in next in this tab must not see it.
  const key = `${account?.tenant}/${account?.principal} ${feed.sessionId}`;
  const image = useSyncExternalStore(keptImages.subscribe, () => keptImages.get(key));
  const setImage = (next: Image | null): void => keptImages.set(key, next);
  const attach = (files: FileList | null): void => {
    const file = [...(files ?? [])].find(({ type }) => type.startsWith('image/'));
    if (!file) return;
    imageOf(file).then(setImage, (error: unknown) => feed.notify(errorText(error)));
    focusComposer();
  };
  return { image, setImage, attach };
}
