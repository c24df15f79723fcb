import type { SessionEventOf, ToolCallSettled } from '../../core/log/events.ts';
import { toolResultText } from '../../core/tool-call/tool-result-text.ts';
import type { Content, ContentPart } from './run-input.ts';

/** What came of a call: text, or parts if there are images among it. */
export function resultContent(event: ToolCallSettled): Content {
  switch (event.type) {
    case 'tool-call.succeeded': {
      const { content } = event.result;
      return content.some(isImage) ? content.map(contentPart) : toolResultText(event.result);
    }
    case 'tool-call.failed':
      return `The tool failed: ${event.reason}`;
    case 'tool-call.interrupted':
      return `The call was interrupted (${event.reason}). It may or may not have taken effect.`;
    default:
      return event satisfies never;
  }
}

type Block = SessionEventOf<'tool-call.succeeded'>['result']['content'][number];
interface ImageBlock extends Block {
  readonly data: string;
  readonly mimeType: string;
}

function isImage(block: Block): block is ImageBlock {
  return block.type === 'image' && typeof block.data === 'string' && typeof block.mimeType === 'string';
}

function contentPart(block: Block): ContentPart {
  if (!isImage(block)) return { type: 'text', text: toolResultText({ content: [block] }) };
  return { type: 'image', source: { type: 'data', value: block.data, mimeType: block.mimeType } };
}
