import { type RefObject, useEffect, useMemo, useRef } from 'react';
import { errorText } from '../service/api-error.ts';
import { randomId } from '../service/hub/random-id.ts';
import { useFeed, useFeedSnapshot } from '../service/use-session.ts';
import type { Chat } from './chat-context.ts';
import { keptMessages } from './kept-messages.ts';
import { useDraft } from './use-draft.ts';

/** A message that was sent just before a reload may arrive a moment after the new stream has begun. */
const ARRIVAL_MS = 2_000;

export interface ComposerState {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** @see Drafts.takeDue */
  readonly takeDue: () => boolean;
  readonly chat: Chat;
}

/** The message box of the session: its text, and what the conversation does with it. It has the focus at first. */
export function useComposer(mayTalk: boolean): ComposerState {
  const feed = useFeed();
  const box = useRef<HTMLTextAreaElement>(null);
  const [{ text }, { key, setText, putBack: keep, takeDue }] = useDraft(feed.sessionId);
  const chat = useMemo((): Chat => {
    const focusComposer = () => {
      // A touch screen would show its keyboard over the page.
      if (window.matchMedia('(hover: hover)').matches) box.current?.focus();
    };
    const putBack: Chat['putBack'] = (content, image = null) => {
      keep(content, image);
      focusComposer();
    };
    const say: Chat['say'] = (content, image = null) => {
      focusComposer();
      const clientMessageId = randomId();
      keptMessages.keep(key, { clientMessageId, content, hasImage: image !== null });
      feed
        .send(content, { clientMessageId, ...(image && { imageData: image }) })
        .then(
          // Whoever withdraws it puts back its text, maybe in another tab. Only this tab has the image.
          (isSent) => isSent || putBack('', image),
          (error: unknown) => {
            feed.notify(errorText(error));
            putBack(content, image);
          },
        )
        .finally(() => keptMessages.forget(key, clientMessageId));
    };
    return { mayTalk, focusComposer, putBack, say };
  }, [feed, mayTalk, key, keep]);
  const snapshot = useFeedSnapshot();
  useEffect(() => keptMessages.note(snapshot), [snapshot]);
  const isSettled = snapshot.status === 'live' && snapshot.isComplete;
  useEffect(() => {
    if (!isSettled) return undefined;
    const timer = setTimeout(() => {
      const lost = keptMessages.takeLost(key, feed.snapshot());
      for (const { content } of lost) keep(content, null);
      if (lost.some(({ hasImage }) => hasImage))
        feed.notify('A message was not sent before the page was loaded again. Attach its image again.');
    }, ARRIVAL_MS);
    return () => clearTimeout(timer);
  }, [key, keep, feed, isSettled]);
  const { focusComposer } = chat;
  useEffect(() => {
    // The panel may be loaded late, when the reader already types elsewhere.
    if (!document.activeElement?.matches('input, textarea')) focusComposer();
  }, [focusComposer]);
  return { box, text, setText, takeDue, chat };
}
