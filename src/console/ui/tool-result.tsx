import type { ToolResult } from '../../core/tool-call/tool.ts';
import { Json } from './json.tsx';
import { Thumbnail } from './thumbnail.tsx';
import style from './tool-result.module.css';

/** The result of a tool: its text and images, and everything else as JSON. */
export function ToolResultView({ result: { content, structuredContent } }: { readonly result: ToolResult }) {
  return (
    <div className={style.result}>
      {content.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no id and never move
        <ContentBlock key={index} block={block} />
      ))}
      {structuredContent !== undefined && <Json value={structuredContent} />}
    </div>
  );
}

function ContentBlock({ block }: { readonly block: ToolResult['content'][number] }) {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return <pre className={style.text}>{text}</pre>;
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return <Thumbnail src={`data:${mimeType};base64,${data}`} alt="Image from the tool" />;
  return <Json value={block} />;
}
