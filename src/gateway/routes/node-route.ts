import type { Bus } from '../../ports/bus.ts';
import { scopeOf } from '../../ports/request-rules.ts';
import type { NodesResponse } from '../../wire/responses.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import type { Route } from '../http/router.ts';

/** The nodes of the cluster. */
export function nodeRoute(bus: Bus): Route {
  return {
    method: 'GET',
    path: '/api/nodes',
    access: scopeOf('node.list'),
    handler: async ({ context }) => {
      const nodes = await bus.send('node.list', {}, context);
      return jsonResponse<NodesResponse>({ nodes, timestamp: now() });
    },
  };
}
