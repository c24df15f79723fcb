import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';

/** The address that a person must open; null if nobody is asked, or if it is no page: other schemes could run scripts. */
export function authorizationLink({ details }: Pick<McpServerRecord, 'details'>): string | null {
  const url = details?.authorizationUrl;
  if (url === undefined || !URL.canParse(url)) return null;
  return /^https?:$/.test(new URL(url).protocol) ? url : null;
}
