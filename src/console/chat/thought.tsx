import { type ToggleEvent, useLayoutEffect, useRef, useState } from 'react';
import type { Thought } from '../service/running-step.ts';
import { span } from '../ui/time.ts';
import style from './chat.module.css';
import { Markdown } from './markdown.tsx';
import { thoughtBlocks } from './thought-blocks.ts';

interface ThoughtProps {
  readonly thought: Thought;
  /** Nothing was said yet. */
  readonly isThinking: boolean;
}

/** What the model thinks aloud: open until it says something, then folded. What the reader chooses stays. */
export function ThoughtView({ thought: { text, ms }, isThinking }: ThoughtProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? isThinking;
  const noteToggle = ({ currentTarget: { open } }: ToggleEvent<HTMLDetailsElement>) => {
    // It is told of what the page itself does, too.
    if (open !== isOpen) setChosen(open);
  };
  return (
    <details className={style.thought} open={isOpen} onToggle={noteToggle}>
      <summary>{titleOf(ms, isThinking)}</summary>
      {isOpen && <ThoughtText text={text} isGrowing={isThinking} onRead={() => setChosen(true)} />}
    </details>
  );
}

function titleOf(ms: number | null, isThinking: boolean): string {
  if (isThinking) return 'Thinking…';
  return ms === null ? 'Thought' : `Thought for ${span(ms)}`;
}

interface ThoughtTextProps {
  readonly text: string;
  readonly isGrowing: boolean;
  /** The reader is in it: then it is not to be folded under the eyes, and the focus not to be lost. */
  readonly onRead: () => void;
}

/** How close to the end counts as being there, in pixels. */
const AT_END = 40;

/** Stays at its end while it grows, unless the reader has scrolled away from it. */
function ThoughtText({ text, isGrowing, onRead }: ThoughtTextProps) {
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const noteEnd = () => {
    const { current } = box;
    if (current) isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < AT_END;
  };
  useLayoutEffect(() => {
    if (isGrowing && isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <section
      ref={box}
      className={style.thoughtText}
      aria-label="What the model thought"
      // Read out piece by piece it would drown the reply.
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
      tabIndex={0}
      onFocus={onRead}
      onScroll={noteEnd}
    >
      {thoughtBlocks(text).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name and never move
        <Markdown key={index} text={block} />
      ))}
    </section>
  );
}
