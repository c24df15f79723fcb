import type { ToolResult } from './tool.ts';

/** The result of a tool as text for the model. A block that is not text becomes one line. */
export function toolResultText(result: ToolResult): string {
  const text = result.content.map(blockText).join('\n');
  if (text !== '') return text;
  return result.structuredContent === undefined ? '(no output)' : JSON.stringify(result.structuredContent);
}

function blockText(block: ToolResult['content'][number]): string {
  switch (block.type) {
    case 'text':
      return stringOf(block.text);
    case 'image':
    case 'audio':
      return `[${block.type} ${stringOf(block.mimeType)}, ${stringOf(block.data).length} characters of base64]`;
    case 'resource_link':
      return `[resource ${stringOf(block.uri)}]`;
    case 'resource':
      return resourceText(block.resource);
    default:
      return JSON.stringify(block);
  }
}

function resourceText(resource: unknown): string {
  if (typeof resource !== 'object' || resource === null) return '[resource]';
  if ('text' in resource && typeof resource.text === 'string') return resource.text;
  return 'uri' in resource ? `[resource ${stringOf(resource.uri)}]` : '[resource]';
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
