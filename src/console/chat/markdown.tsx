import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import style from './markdown.module.css';

/** A model's words: markdown without raw HTML; links lead away, pictures are named and not loaded. */
const components: Components = {
  // An address that is not safe to follow has become empty: its link would open this page again.
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt, src }) => <span>[image: {alt || String(src)}]</span>,
};

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  if (text.trim() === '') return null;
  return (
    <div className={style.markdown}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
