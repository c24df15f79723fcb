import { type ToggleEvent, useLayoutEffect, useRef, useState } from 'react';
import type { Thought } from '../service/running-step.ts';
import { span } from '../ui/time.ts';
import style from './chat.module.css';
import { Markdown } from './markdown.tsx';

interface ThoughtProps {
  readonly thought: Thought;
  /** The step runs and has no text yet. */
  readonly isThinking: boolean;
}

/** The reasoning of a step: open until the step has text, then folded, unless the reader opens or closes it. */
export function ThoughtView({ thought: { text, ms }, isThinking }: ThoughtProps) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? isThinking;
  const noteToggle = ({ currentTarget: { open } }: ToggleEvent<HTMLDetailsElement>) => {
    // `toggle` also fires when the page itself opens or closes the element.
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
  /** The reader has focused the text. It then stays open, so that the focus is not lost. */
  readonly onRead: () => void;
}

/** Up to this distance from the end, in pixels, the text counts as scrolled to its end. */
const AT_END = 40;

/** Keeps the text scrolled to its end while it grows, unless the reader has scrolled away. */
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
      // Else a screen reader would read each piece aloud, over the reply.
      aria-live="off"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
      tabIndex={0}
      onFocus={onRead}
      onScroll={noteEnd}
    >
      <Markdown text={text} />
    </section>
  );
}
