import { useMemo, useSyncExternalStore } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { useAccount } from '../service/account.ts';
import { type Draft, draftKey, drafts } from './drafts.ts';

interface DraftActions {
  /** @see draftKey */
  readonly key: string;
  readonly setText: (text: string) => void;
  readonly setImage: (image: Image | null) => void;
  /** @see Drafts.putBack */
  readonly putBack: (text: string, image: Image | null) => void;
  /** @see Drafts.takeDue */
  readonly takeDue: () => boolean;
}

/** The reader's unsent message of a session. Another panel or session does not lose it. */
export function useDraft(sessionId: string): [Draft, DraftActions] {
  const key = draftKey(useAccount(), sessionId);
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.get(key));
  const actions = useMemo(
    (): DraftActions => ({
      key,
      setText: (text) => drafts.setText(key, text),
      setImage: (image) => drafts.setImage(key, image),
      putBack: (text, image) => drafts.putBack(key, text, image),
      takeDue: () => drafts.takeDue(key),
    }),
    [key],
  );
  return [draft, actions];
}
