import { z } from 'zod';
import { hasCredentials } from './web-url.ts';

/** RFC 9728 allows no fragment in a resource identifier, and MCP clients expect none of the rest. */
function isMcpUrl(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const { protocol, pathname } = new URL(text);
  return /^https?:$/.test(protocol) && !hasCredentials(text) && pathname.endsWith('/mcp');
}

export const McpResourceUrl = z
  .string()
  .refine(isMcpUrl, 'must be the public URL of the MCP endpoint, such as https://agent.example.com/mcp');
