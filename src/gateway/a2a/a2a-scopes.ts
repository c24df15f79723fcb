import { requireScope } from '../../core/access/require-scope.ts';
import type { Scope } from '../../core/access/scopes.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { REQUEST_SCOPES } from '../../ports/request-scopes.ts';

/** What a client needs for each method, by either binding. */
export const A2A_SCOPES = {
  SendMessage: REQUEST_SCOPES['turn.start'],
  SendStreamingMessage: REQUEST_SCOPES['turn.start'],
  GetTask: REQUEST_SCOPES['session.events'],
  ListTasks: REQUEST_SCOPES['session.list'],
  CancelTask: REQUEST_SCOPES['turn.cancel'],
  SubscribeToTask: REQUEST_SCOPES['session.events'],
  CreateTaskPushNotificationConfig: REQUEST_SCOPES['push.register'],
  GetTaskPushNotificationConfig: REQUEST_SCOPES['push.list'],
  ListTaskPushNotificationConfigs: REQUEST_SCOPES['push.list'],
  DeleteTaskPushNotificationConfig: REQUEST_SCOPES['push.end'],
  GetExtendedAgentCard: REQUEST_SCOPES['agent.describe'],
} as const satisfies Record<string, Scope | null>;
export type A2aMethod = keyof typeof A2A_SCOPES;

export function isA2aMethod(name: string): name is A2aMethod {
  return Object.hasOwn(A2A_SCOPES, name);
}

/** Throws `FORBIDDEN` unless the client may call the method. Where nobody is authenticated, everybody may. */
export function requireMethod(context: RequestContext, method: A2aMethod): void {
  if (context.rights) requireScope(context, A2A_SCOPES[method]);
}
