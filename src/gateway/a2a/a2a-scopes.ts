import type { Scope } from '../../core/access/scopes.ts';
import { scopeOf } from '../../ports/request-rules.ts';

/** What a client needs for each method, by either binding. */
export const A2A_SCOPES = {
  SendMessage: scopeOf('turn.start'),
  SendStreamingMessage: scopeOf('turn.start'),
  GetTask: scopeOf('session.events'),
  ListTasks: scopeOf('session.list'),
  CancelTask: scopeOf('turn.cancel'),
  SubscribeToTask: scopeOf('session.events'),
  CreateTaskPushNotificationConfig: scopeOf('push.register'),
  GetTaskPushNotificationConfig: scopeOf('push.list'),
  ListTaskPushNotificationConfigs: scopeOf('push.list'),
  DeleteTaskPushNotificationConfig: scopeOf('push.end'),
  GetExtendedAgentCard: scopeOf('agent.describe'),
} as const satisfies Record<string, Scope | null>;
export type A2aMethod = keyof typeof A2A_SCOPES;

export function isA2aMethod(name: string): name is A2aMethod {
  return Object.hasOwn(A2A_SCOPES, name);
}
