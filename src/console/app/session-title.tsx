import { useRef, useState } from 'react';
import type { SessionListItem } from '../../core/session/session-view.ts';
import { errorText } from '../service/api-error.ts';
import { renameSession } from './session-actions.ts';

interface SessionTitleProps {
  readonly session: SessionListItem;
  /** The title was saved, or the edit was given up; with a key, or by leaving the field. */
  readonly onEnd: (how: 'key' | 'leaving') => void;
}

/** The title of a session as a text field. Enter or leaving the field saves, Escape gives the edit up. */
export function SessionTitle({ session: { sessionId, title = '' }, onEnd }: SessionTitleProps) {
  const [text, setText] = useState(title);
  // The field also loses the focus when it is removed.
  const isOver = useRef(false);
  const end = async (how: 'key' | 'leaving', wanted = title): Promise<void> => {
    if (isOver.current) return;
    isOver.current = true;
    try {
      if (wanted !== title) await renameSession(sessionId, wanted);
    } catch (error) {
      window.alert(errorText(error));
    }
    onEnd(how);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void end('key', text);
      }}
    >
      <input
        aria-label={`Title of ${sessionId}`}
        dir="auto"
        placeholder="From the first message"
        maxLength={200}
        value={text}
        // biome-ignore lint/a11y/noAutofocus: the reader has just asked for this field
        autoFocus
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && void end('key')}
        onBlur={() => void end('leaving', text)}
      />
    </form>
  );
}
