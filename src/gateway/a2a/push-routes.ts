import { ANYONE } from '../../core/request/request-context.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { jsonResponse, type ServedRequest } from '../http/http-message.ts';
import type { Parameters, Route } from '../http/router.ts';
import type { A2aCall } from './a2a-call.ts';
import type { JsonWebKeys } from './a2a-requests.ts';
import { A2A_SCOPES } from './a2a-scopes.ts';

const CONFIGS = '/a2a/tasks/:taskId/pushNotificationConfigs';

type Rest = typeof import('./rest-push.ts');
type Answer = (rest: Rest, call: A2aCall, ids: Parameters) => Promise<HttpResponse>;

/** The configs for push notifications in the HTTP+JSON binding. */
export function pushRoutes(callOf: (request: ServedRequest) => A2aCall): Route[] {
  const by =
    (answer: Answer): Route['handler'] =>
    async (request, ids) =>
      answer(await import('./rest-push.ts'), callOf(request), ids);
  return [
    {
      method: 'POST',
      path: CONFIGS,
      access: A2A_SCOPES.CreateTaskPushNotificationConfig,
      handler: by(({ postConfig }, call, { taskId = '' }) => postConfig(call, taskId)),
    },
    {
      method: 'GET',
      path: CONFIGS,
      access: A2A_SCOPES.ListTaskPushNotificationConfigs,
      handler: by(({ showConfigs }, call, { taskId = '' }) => showConfigs(call, taskId)),
    },
    {
      method: 'GET',
      path: `${CONFIGS}/:configId`,
      access: A2A_SCOPES.GetTaskPushNotificationConfig,
      handler: by(({ showConfig }, call, { taskId = '', configId: id = '' }) =>
        showConfig(call, { taskId, id }),
      ),
    },
    {
      method: 'DELETE',
      path: `${CONFIGS}/:configId`,
      access: A2A_SCOPES.DeleteTaskPushNotificationConfig,
      handler: by(({ dropConfig }, call, { taskId = '', configId: id = '' }) =>
        dropConfig(call, { taskId, id }),
      ),
    },
  ];
}

/** Seconds. A key that is new is there before the first notification with it. */
const MAX_AGE_S = 300;

/** The keys with which receivers check notifications. @param bus asks for no credential, because they have none. */
export function pushKeysRoute(bus: Bus): Route {
  return {
    method: 'GET',
    path: '/.well-known/jwks.json',
    access: 'open',
    handler: async ({ context }) => {
      const keys = await bus.send('push.keys', {}, { ...ANYONE, agent: context.agent });
      const headers = keys.length > 0 ? { 'Cache-Control': `public, max-age=${MAX_AGE_S}` } : {};
      return jsonResponse<JsonWebKeys>({ keys: [...keys] }, 200, headers);
    },
  };
}
