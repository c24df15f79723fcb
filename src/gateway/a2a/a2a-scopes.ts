import type { NeededScopes } from '../../core/access/scopes.ts';
import { scopeOf, scopesOfAll } from '../../ports/request-rules.ts';

/** What a client needs for each method, by either binding. Most read the task from the session. */
export const A2A_SCOPES = {
  SendMessage: scopesOfAll('turn.start', 'session.events'),
  SendStreamingMessage: scopesOfAll('turn.start', 'session.events'),
  GetTask: scopeOf('session.events'),
  ListTasks: scopeOf('session.list'),
  CancelTask: scopesOfAll('turn.cancel', 'session.events'),
  SubscribeToTask: scopeOf('session.events'),
  CreateTaskPushNotificationConfig: scopesOfAll('push.register', 'session.events'),
  GetTaskPushNotificationConfig: scopeOf('push.list'),
  ListTaskPushNotificationConfigs: scopeOf('push.list'),
  DeleteTaskPushNotificationConfig: scopesOfAll('push.end', 'session.events'),
  GetExtendedAgentCard: scopeOf('agent.describe'),
} as const satisfies Record<string, NeededScopes>;
export type A2aMethod = keyof typeof A2A_SCOPES;

export function isA2aMethod(name: string): name is A2aMethod {
  return Object.hasOwn(A2A_SCOPES, name);
}
