import type { Route } from '../http/router.ts';
import { A2A_SCOPES } from './a2a-scopes.ts';

const CONFIGS = '/a2a/tasks/:taskId/pushNotificationConfigs';

/** The agent sends no push notifications. A client that asks for them all the same learns it from the error of A2A. */
export function refusedPushRoutes(): Route[] {
  const handler: Route['handler'] = async () => (await import('./push-notifications.ts')).refusePush();
  return [
    {
      ...{ method: 'POST', path: CONFIGS, handler },
      access: A2A_SCOPES.CreateTaskPushNotificationConfig,
    },
    {
      ...{ method: 'GET', path: CONFIGS, handler },
      access: A2A_SCOPES.ListTaskPushNotificationConfigs,
    },
    {
      ...{ method: 'GET', path: `${CONFIGS}/:configId`, handler },
      access: A2A_SCOPES.GetTaskPushNotificationConfig,
    },
    {
      ...{ method: 'DELETE', path: `${CONFIGS}/:configId`, handler },
      access: A2A_SCOPES.DeleteTaskPushNotificationConfig,
    },
  ];
}
