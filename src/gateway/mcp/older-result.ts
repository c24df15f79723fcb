import { isJsonObject } from '../../core/json-object.ts';
import type { McpObject } from './mcp-object.ts';

/**
 * A result for clients of the older era, which know neither kinds of results nor how long a list stays good. A structured
 * value that is no object becomes the field of one: the SDK does the same with its schema in the list of tools.
 */
export function olderResult({ resultType, ttlMs, cacheScope, ...result }: McpObject): McpObject {
  const { structuredContent: value } = result;
  if (value === undefined || isJsonObject(value)) return result;
  return { ...result, structuredContent: { result: value } };
}
