import { ServiceError } from '../../core/errors.ts';
import type { Route } from '../http/router.ts';

/** `GET /inspect` of somebody who has opened it as a page. The inspector itself is a WebSocket. */
export function inspectRoute(isOn: boolean): Route {
  return {
    method: 'GET',
    path: '/inspect',
    access: 'open',
    handler: async () => {
      throw new ServiceError('INVALID_REQUEST', '/inspect is the WebSocket of an XState inspector.', {
        issue: isOn ? 'the request is no WebSocket handshake' : 'the inspector is switched off',
        suggestion: isOn
          ? 'Connect an inspector to ws://HOST:PORT/inspect; docs/operations.md#inspector has the details.'
          : 'Start the service with --inspect, or set AGENT_SERVICE_INSPECT=states.',
      });
    },
  };
}
