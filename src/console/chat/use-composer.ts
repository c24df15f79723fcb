import { type RefObject, useEffect, useMemo, useRef } from 'react';
import type { Image } from '../../core/conversation/image.ts';
import { errorText } from '../service/api-error.ts';
import { useFeed } from '../service/use-session.ts';
import type { Chat } from './chat-context.ts';
import { useDraft } from './use-draft.ts';

export interface ComposerState {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly chat: Chat;
}

/** The message box of the session: its text, and what the conversation does with it. It has the focus at first. */
export function useComposer(mayTalk: boolean): ComposerState {
  const feed = useFeed();
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useDraft(feed.sessionId);
  const draft = useRef(text);
  draft.current = text;
  const chat = useMemo((): Chat => {
    const focusComposer = () => {
      // A touch screen would show its keyboard over the page.
      if (window.matchMedia('(hover: hover)').matches) box.current?.focus();
    };
    const putBack = (content: string) => {
      setText([content, draft.current].filter((part) => part !== '').join('\n'));
      focusComposer();
    };
    const say = (content: string, image: Image | null = null) => {
      focusComposer();
      feed.send(content, image).catch((error: unknown) => feed.notify(errorText(error)));
    };
    return { mayTalk, focusComposer, putBack, say };
  }, [feed, mayTalk, setText]);
  const { focusComposer } = chat;
  useEffect(() => {
    // The panel may be loaded late, when the reader already types elsewhere.
    if (!document.activeElement?.matches('input, textarea')) focusComposer();
  }, [focusComposer]);
  return { box, text, setText, chat };
}
