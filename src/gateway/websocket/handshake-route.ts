import { acceptsByName } from '../http/content-negotiation.ts';
import type { Route } from '../http/router.ts';
import type { WebSocketFront } from './websocket-front.ts';

/**
 * `GET /` with `Accept: application/json` and the query of a WebSocket: what a handshake would be answered.
 *
 * @param others answers clients that do not name JSON.
 */
export function handshakeRoute(front: Pick<WebSocketFront, 'foresee'>, others: Route): Route {
  return {
    ...others,
    handler: async (request, at) =>
      (await acceptsByName(request, 'application/json'))
        ? front.foresee(request)
        : others.handler(request, at),
  };
}
