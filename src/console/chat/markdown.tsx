import { memo, useContext } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from './code-block.tsx';
import { IsGrowing } from './growing.ts';
import style from './markdown.module.css';
import { markdownBlocks } from './markdown-blocks.ts';

const plugins = [remarkGfm];

/** Model output is untrusted: raw HTML is not rendered, links open elsewhere, images are named but not loaded. */
const components: Components = {
  // react-markdown empties an unsafe URL. A link to an empty URL would open this page again.
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  pre: ({ node }) => <CodeBlock {...codeOf(node)} />,
  img: ({ alt, src }) => <span>[image: {alt || String(src)}]</span>,
};

type CodeNode = NonNullable<ExtraProps['node']>;

/** Each block runs in the direction of its own text. The blocks within, such as the items of a list, run as it does. */
function directBlocks() {
  return ({ children }: Pick<CodeNode, 'children'>): void => {
    for (const child of children) if (child.type === 'element') child.properties.dir = 'auto';
  };
}

/** The text and the language of a fenced block. */
function codeOf(node: CodeNode | undefined): { code: string; language: string } {
  const [code] = node?.children ?? [];
  if (code?.type !== 'element') return { code: '', language: '' };
  const text = code.children.map((child) => (child.type === 'text' ? child.value : '')).join('');
  const { className } = code.properties;
  const name = Array.isArray(className) ? className.find((one) => String(one).startsWith('language-')) : '';
  return { code: text.replace(/\n$/, ''), language: String(name ?? '').replace('language-', '') };
}

/** The text may grow: blocks that are finished are not parsed again. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const isGrowing = useContext(IsGrowing);
  if (text.trim() === '') return null;
  const blocks = markdownBlocks(text);
  return (
    <div className={style.markdown}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no id and never move
        <IsGrowing key={index} value={isGrowing && index === blocks.length - 1}>
          <Block text={block} />
        </IsGrowing>
      ))}
    </div>
  );
});

const Block = memo(function Block({ text }: { readonly text: string }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} rehypePlugins={[directBlocks]} components={components}>
      {text}
    </ReactMarkdown>
  );
});
