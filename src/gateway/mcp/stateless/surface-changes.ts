import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { McpSurface } from '../mcp-surface.ts';

/** The changes of the surface that this client may hear of, for its subscription. */
export function changeBus({ onChange }: McpSurface, context: RequestContext): ServerEventBus {
  return {
    publish() {
      throw new Error('changes come from the surface alone');
    },
    subscribe: (listener) => onChange?.(listener, context) ?? (() => undefined),
  };
}
