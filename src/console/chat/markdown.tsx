import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import style from './markdown.module.css';

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
