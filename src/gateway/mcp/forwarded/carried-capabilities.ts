import type { McpObject } from '../mcp-object.ts';

/** The questions of a tool server that come through here. */
const CARRIED = ['elicitation', 'sampling', 'roots'];

/**
 * What a tool server hears of its client's capabilities. A server that knew of others would use what does not pass here:
 * the result of a call would be a task, say, for which the client would then ask this service, who does not know it.
 */
export function carriedCapabilities(declared: McpObject): McpObject {
  return Object.fromEntries(Object.entries(declared).filter(([name]) => CARRIED.includes(name)));
}
