import { type ReactNode, useEffect, useState } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';
import style from './code-block.module.css';
import type { HighlightedNode } from './highlight.ts';

interface CodeBlockProps {
  readonly code: string;
  /** As the fence names it, such as `ts`. Empty for none. */
  readonly language: string;
}

/** A block of code with its language and a button to copy it. The colours come when the highlighter is loaded. */
export function CodeBlock({ code, language }: CodeBlockProps) {
  const nodes = useHighlighted(code, language);
  return (
    <div className={style.block}>
      <div className={style.head}>
        <span>{language || 'text'}</span>
        <CopyButton text={code} what="the code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
      <pre tabIndex={0}>
        {/* Another element for the colours: within the same one, React puts in each piece after a walk over all others. */}
        <code key={nodes ? 'coloured' : 'plain'}>{nodes ? nodes.map(nodeOf) : code}</code>
      </pre>
    </div>
  );
}

interface Highlighted {
  readonly code: string;
  readonly nodes: readonly HighlightedNode[] | null;
}

/** Code that still streams gets no colours: they would come and go with each piece. */
const SETTLED_MS = 100;
/** The colours of longer code would hold up the page. */
const MOST_CHARACTERS = 50_000;

/** Null until the highlighter is loaded, and for a language that it does not know. */
function useHighlighted(code: string, language: string): Highlighted['nodes'] {
  const [done, setDone] = useState<Highlighted | null>(null);
  useEffect(() => {
    if (language === '' || code.length > MOST_CHARACTERS) return undefined;
    let isOver = false;
    const colour = (): void =>
      void import('./highlight.ts').then(
        ({ highlighted }) => {
          if (!isOver) setDone({ code, nodes: highlighted(code, language) });
        },
        () => undefined, // Without its colours, the code is still readable.
      );
    const timer = setTimeout(colour, SETTLED_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [code, language]);
  return done?.code === code ? done.nodes : null;
}

function nodeOf(node: HighlightedNode, index: number): ReactNode {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return null;
  const { className } = node.properties;
  return (
    <span key={index} className={Array.isArray(className) ? className.join(' ') : undefined}>
      {node.children.map((child, place) => (child.type === 'comment' ? null : nodeOf(child, place)))}
    </span>
  );
}
