import type { McpObject } from './mcp-object.ts';

/** Whether capabilities have a flag, as `subscribe` of `resources`. */
export function declares(capabilities: McpObject, name: string, flag: string): boolean {
  const capability = capabilities[name];
  return typeof capability === 'object' && capability !== null && Reflect.get(capability, flag) === true;
}
