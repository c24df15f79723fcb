import type { McpObject } from '../mcp-object.ts';

export function textResult(text: string, more: McpObject = {}): McpObject {
  return { content: [{ type: 'text', text }], ...more };
}

export function toolError(text: string): McpObject {
  return textResult(text, { isError: true });
}
