import { type ReactNode, useContext, useEffect, useState } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';
import style from './code-block.module.css';
import { mayHaveColours } from './code-length.ts';
import { IsGrowing } from './growing.ts';
import type { HighlightedNode } from './highlight.ts';

interface CodeBlockProps {
  readonly code: string;
  /** As the fence names it, such as `ts`. Empty for none. */
  readonly language: string;
}

/**
 * A block of code with its language and a button to copy it. The colours come when the highlighter is loaded, and not
 * while the text still grows.
 */
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
        {/* A new element is mounted in one piece. Else React would insert each span by itself, and walk those after it. */}
        <code key={nodes ? 'coloured' : 'plain'}>{nodes ? nodes.map(nodeOf) : code}</code>
      </pre>
    </div>
  );
}

interface Highlighted {
  readonly code: string;
  readonly nodes: readonly HighlightedNode[] | null;
}

/** Null until the highlighter is loaded, while the text grows, and for what is not highlighted. */
function useHighlighted(code: string, language: string): Highlighted['nodes'] {
  const isGrowing = useContext(IsGrowing);
  const [done, setDone] = useState<Highlighted | null>(null);
  useEffect(() => {
    if (isGrowing || !mayHaveColours(code, language)) return undefined;
    let isOver = false;
    import('./highlight.ts').then(
      ({ highlighted }) => {
        if (!isOver) setDone({ code, nodes: highlighted(code, language) });
      },
      () => undefined, // Without its colours, the code is still readable.
    );
    return () => {
      isOver = true;
    };
  }, [code, language, isGrowing]);
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
