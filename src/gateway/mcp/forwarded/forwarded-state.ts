import type { McpObject } from '../mcp-object.ts';

const PREFIX = 'passed:';

/**
 * The result of a tool server, for the client. If the client must bring a state back, its prefix says that the state is the
 * server's. The server may be another service like this one, whose states would look like those of this service.
 */
export function withMarkedState(result: McpObject): McpObject {
  const { resultType, requestState } = result;
  if (resultType !== 'input_required' || typeof requestState !== 'string') return result;
  return { ...result, requestState: PREFIX + requestState };
}

/** The state as the server gave it. Releases before the prefix gave it to clients as it is. */
export function unmarkedState(state: string): string {
  return state.startsWith(PREFIX) ? state.slice(PREFIX.length) : state;
}
