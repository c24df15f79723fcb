import type { JsonObject } from '../json-object.ts';

/** The tool that a request of MCP calls; undefined if the request is another one. */
export function calledTool({
  method,
  params,
}: {
  readonly method: string;
  readonly params: JsonObject;
}): string | undefined {
  if (method !== 'tools/call') return undefined;
  return typeof params.name === 'string' ? params.name : '';
}

/** How a tool call ended by its result. `asking`: it has not ended, the server needs input for it. */
export function toolCallStatus({ resultType, isError }: JsonObject): 'succeeded' | 'failed' | 'asking' {
  if (resultType === 'input_required') return 'asking';
  return isError === true ? 'failed' : 'succeeded';
}
