import type { ToolResult } from '../../core/tool-call/tool.ts';
import { Json } from './json.tsx';
import style from './tool-result.module.css';

/** What a tool has answered: its text, its images, and as JSON what else there is. */
export function ToolResultView({ result: { content, structuredContent } }: { readonly result: ToolResult }) {
  return (
    <div className={style.result}>
      {content.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name and never move
        <ContentBlock key={index} block={block} />
      ))}
      {structuredContent && <Json value={structuredContent} />}
    </div>
  );
}

function ContentBlock({ block }: { readonly block: ToolResult['content'][number] }) {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return <pre className={style.text}>{text}</pre>;
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return (
      <img className={style.image} src={`data:${mimeType};base64,${data}`} alt="What the tool returned" />
    );
  return <Json value={block} />;
}
