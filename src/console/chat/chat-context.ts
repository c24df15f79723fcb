import { createContext, useContext } from 'react';
import type { Image } from '../../core/conversation/image.ts';

/** What the parts of a conversation do with the message box. */
export interface Chat {
  /** Whether the reader may write in this session. */
  readonly mayTalk: boolean;
  /** Puts the focus into the message box, unless that would open a keyboard over the page. */
  readonly focusComposer: () => void;
  /** Puts a message that was not sent into the message box, before what the reader has written since. */
  readonly putBack: (text: string, image?: Image | null) => void;
  /** Sends a message of this session. What is refused comes back into the message box. */
  readonly say: (text: string, image?: Image | null) => void;
}

export const ChatContext = createContext<Chat | null>(null);

export function useChat(): Chat {
  const chat = useContext(ChatContext);
  if (!chat) throw new Error('there is no ChatContext around this component');
  return chat;
}
